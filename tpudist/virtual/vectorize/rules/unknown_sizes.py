"""Chooses the rule for an op with ragged inputs, or with symbolic shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.virtual.vectorize.rules import dims, ragged
from tpudist.virtual.vectorize.values import batched_values
from tpudist.virtual.vectorize.values.ragged_values import Ragged
from tpudist.virtual.vectorize.values.symbolic_shapes import Axes, Dims

if TYPE_CHECKING:
    from typing import Any

    from tpudist.virtual.vectorize.rules.node import Node


#: The classes of batched values that need these rules.
RAGGED_KINDS = (Axes, Dims, Ragged)

#: Ops whose output is ragged, even if no input is.
SELECTING = ("Where",)

#: Ops that return shapes.
_SHAPE_OPS = ("Shape", "ShapeN", "Size")


def apply_ragged_rule(node: Node) -> Any:
    """The batched outputs of a `Node`; None if no rule covers it.

    The class of one of its inputs is in `RAGGED_KINDS`, or the type of its op in `SELECTING`.
    """
    for value in node.inputs:
        if isinstance(value, batched_values.PerReplicaTensors) and not isinstance(value, Axes):
            return None
        if isinstance(value, batched_values.StackedList):
            return None
    first, second, others = dims.RULES, ragged.RULES, ragged.SHAPE_TAKING
    has_rows = any(isinstance(value, (Axes, Ragged)) for value in node.inputs)
    if has_rows or node.op.type in SELECTING:
        first, second, others = ragged.RULES, dims.RULES, _SHAPE_OPS  # type: ignore[assignment]
    outputs = first[node.op.type](node) if node.op.type in first else None
    if outputs is None and node.op.type in others:
        outputs = second[node.op.type](node)
    return outputs
