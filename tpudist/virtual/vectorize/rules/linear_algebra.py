"""Rules for ops on the last axes of an array, which hold matrices or colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.virtual.vectorize.rules.node import rule
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.vectorize.rules.node import Node


@rule(
    "HSVToRGB",
    "MatrixDeterminant",
    "Qr",
    "RGBToHSV",
    "SelfAdjointEigV2",
    "Svd",
    "TridiagonalMatMul",
    "TridiagonalSolve",
)
def last_axes(node: Node) -> list[Any]:
    """Batches ops that treat each element along the first axes by itself."""
    outputs = node.add_op(*[value.stacked() for value in node.inputs])
    return [_output_value(node, tensor, node.shape(i)) for i, tensor in enumerate(outputs)]


def _output_value(node: Node, tensor: Tensor, shape: Any) -> Any:
    if tensor.shape.as_list() == shape:  # an output that an attribute turned off
        return batched_values.Uniform(node.count, tensor)
    return batched_values.Batch(node.count, shape, stacked=tensor)
