"""Batching rules: how to do an op of each type once for all replicas.

A rule is registered for one or several op types (:mod:`node`); an op without a rule is copied once
per replica. Types that have no rule of ours use TensorFlow's own converters (:mod:`converted`). The
rules for ragged values are in :mod:`ragged`, :mod:`row_sums` and :mod:`dims`.

To add a rule, add its case too, to tests/virtual/vectorize/batching_cases.py or a file beside it.
"""

from tpudist.virtual.vectorize.rules import (  # noqa: F401 (imported to register their rules)
    axes,
    converted,
    elementwise,
    examples,
    gathers,
    lists,
    row_sums,
)
from tpudist.virtual.vectorize.rules.node import (  # noqa: F401
    IDENTITIES,
    LINEAR,
    LIST_OPS,
    OPTIONAL_OPS,
    RESHAPES,
    RULES,
    Node,
)
from tpudist.virtual.vectorize.rules.ragged import RAGGED_KINDS, apply_ragged_rule  # noqa: F401
