"""Batching rules: what each type of op becomes when it is done once for all replicas.

A rule is registered for one or several op types (:mod:`node`); an op without one runs
once per replica. Gathers and scatters are in :mod:`places`. Where these rules end,
TensorFlow's own converters go on (:mod:`converted`). Where only the run knows how many rows
replicas have, :mod:`ragged`, :mod:`row_sums` and :mod:`dims` have the rules.

To change: add a rule, and its case to tests/virtual/batching_cases.py or one beside it.
"""

from tpudist.virtual.vectorize.rules import (  # noqa: F401 (they register)
    axes,
    converted,
    elementwise,
    examples,
    linear_algebra,
    lists,
    packing,
    places,
    row_sums,
)
from tpudist.virtual.vectorize.rules.elementwise import TOTAL
from tpudist.virtual.vectorize.rules.node import (
    IDENTITIES,
    LINEAR,
    LIST_OPS,
    MAX_RANKS,
    OPTIONAL_OPS,
    RESHAPES,
    RULES,
    Node,
)
from tpudist.virtual.vectorize.rules.unknown_sizes import RAGGED_KINDS, SELECTING, apply_ragged_rule

__all__ = [
    "IDENTITIES",
    "LINEAR",
    "LIST_OPS",
    "MAX_RANKS",
    "OPTIONAL_OPS",
    "RAGGED_KINDS",
    "RESHAPES",
    "RULES",
    "SELECTING",
    "TOTAL",
    "Node",
    "apply_ragged_rule",
]
