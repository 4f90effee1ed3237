"""Chooses the rule of an op of whose inputs some are ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.virtual.vectorize import batched_values
from tpudist.virtual.vectorize.ragged_values import Ragged
from tpudist.virtual.vectorize.rules import dims, ragged
from tpudist.virtual.vectorize.symbolic_shapes import Axes, Dims

if TYPE_CHECKING:
    from typing import Any

    from tpudist.virtual.vectorize.rules.node import Node


#: The batched values that these rules are for.
RAGGED_KINDS = (Axes, Dims, Ragged)

#: Ops whose output has a number of rows that only the run knows, whatever they are given.
SELECTING = ("Where",)

#: Ops that ask for the shape of a value.
_SHAPE_OPS = ("Shape", "ShapeN", "Size")


def apply_ragged_rule(node: Node) -> Any:
    """The batched values of the outputs of the op of a `Node`, or None.

    Some of its inputs are held as `RAGGED_KINDS` says, or its type is one of `SELECTING`.
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
