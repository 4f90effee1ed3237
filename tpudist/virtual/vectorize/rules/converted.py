"""Rules for further ops: TensorFlow's own converters, those of ``tf.vectorized_map``.

Each was compared with one op per replica (tests/virtual/vectorize/converted_cases.py). Left out are
those that do not check what the op checks (``SparseSegment*``), or loop over the replicas (random
ops), and ops with a rule of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import made_ops
from tpudist.virtual.vectorize.rules.node import rule
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.virtual.vectorize.rules.node import Node
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


CONVERTED = """AdjustContrastv2 AdjustHue AdjustSaturation Angle BatchToSpaceND BesselI0
BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0
BesselY1 BitwiseXor Bucketize Cholesky ClipByValue Complex ComplexAbs Conj ConjugateTranspose
Cross Cumprod Cumsum Dawsn Diag DiagPart Digamma EnsureShape Erfc Erfinv Expint FFT FFT2D FFT3D
FresnelCos FresnelSin GatherNd IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D Igamma IgammaGradA
Igammac Imag LeftShift LogMatrixDeterminant LowerBound MatrixBandPart MatrixDiag MatrixDiagPart
MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixInverse MatrixSetDiag
MatrixSetDiagV2 MatrixSetDiagV3 MatrixSolve MatrixTriangularSolve Ndtri Polygamma RFFT RFFT2D
RFFT3D Real ReverseV2 RightShift Select SpaceToBatchND Spence SplitV TopKV2 TruncateMod
UpperBound Xlog1py Zeta""".split()

#: The highest rank of inputs and outputs: all kernels of these ops take one axis more.
_RANK = 4


@rule(*CONVERTED)
def converted(node: Node) -> Sequence[BatchedValue] | None:
    """Applies TensorFlow's converter; None if the shapes of the result are not as expected."""
    input_shapes = [node.input_shape(i) for i in range(len(node.inputs))]
    output_shapes = [node.shape(i) for i in range(len(node.op.outputs))]
    shapes = input_shapes + output_shapes
    if None in shapes or any(len(shape) > _RANK for shape in shapes):
        return None
    kinds = (batched_values.Uniform, batched_values.Batch)
    if not all(isinstance(value, kinds) for value in node.inputs):
        return None
    pairs = [(value.in_form("stacked"), node.is_batch(i)) for i, value in enumerate(node.inputs)]
    tensors = made_ops.converted(node.op, node.count, pairs)
    if tensors is None or len(tensors) != len(output_shapes):
        return None
    for (tensor, is_stacked), shape in zip(tensors, output_shapes):
        if not is_stacked or not tensor.shape.is_compatible_with([node.count] + shape):
            return None
        tensor.set_shape(tf.TensorShape([node.count] + shape))
    return node.batches("stacked", [tensor for tensor, _ in tensors])
