"""Batching rules: how to do an op of each type once for all replicas.

A rule is registered for one or several op types (:mod:`node`); an op without a rule, of ours or
TensorFlow's (:mod:`converted`), is copied once per replica. Ragged values have rules of their own
(:mod:`ragged`, :mod:`row_sums`, :mod:`dims`). Each rule has a case in tests/virtual/vectorize.
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
