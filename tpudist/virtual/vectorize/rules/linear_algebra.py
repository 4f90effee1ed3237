"""Rules for ops on the last axes of an array: matrices and colours."""

from tpudist.virtual.vectorize import batched_values
from tpudist.virtual.vectorize.rules.node import rule


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
def last_axes(node):
    """Ops that treat what their last axes hold alone, whatever axes come before."""
    made = node.make(*[value.stacked() for value in node.inputs])
    return [_held(node, tensor, node.shape(i)) for i, tensor in enumerate(made)]


def _held(node, tensor, shape):
    if tensor.shape.as_list() == shape:  # an output that was not asked for has no such axes
        return batched_values.Uniform(node.count, tensor)
    return batched_values.Batch(node.count, shape, stacked=tensor)
