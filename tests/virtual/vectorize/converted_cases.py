"""A case for every op that TensorFlow's converters for ``tf.vectorized_map`` batch."""

import functools
import inspect

import tensorflow as tf

from tpudist.virtual.vectorize.rules import converted


def raw(op_type, *inputs, **attributes):
    """The op itself, with its inputs in the order of its definition."""
    make = getattr(tf.raw_ops, op_type)
    names = list(inspect.signature(make).parameters)
    return make(**dict(zip(names, inputs), **attributes))


def v(x, *shape):
    """Numbers from 0.1 to 0.9 of a shape, made of those of `x`."""
    size = 1
    for n in shape:
        size *= n
    flat = tf.reshape(x, [-1])
    taken = tf.concat([flat, flat[::-1] * 0.9 + 0.05] * (1 + size // 24), 0)[:size]
    return tf.reshape(taken, shape)


def i(x, highest, *shape):
    """Whole numbers below `highest`."""
    return tf.cast(v(x, *shape) * highest, tf.int32)


def c(x, *shape):
    """Complex numbers."""
    return tf.complex(v(x, *shape), 1 - v(x, *shape))


def definite(x, n=3):
    """A positive definite matrix."""
    a = v(x, n, n)
    return tf.matmul(a, a, transpose_b=True) + tf.eye(n)


def u(*shape):
    """Numbers that are the same on every replica."""
    return tf.constant([0.1 + 0.7 * ((7 * k) % 10) / 10 for k in range(_size(shape))], shape=shape)


def _size(shape):
    return 1 if not shape else shape[0] * _size(shape[1:])


_UNARY = """Angle BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e
BesselK1 BesselK1e BesselY0 BesselY1 Dawsn Digamma Erfc Erfinv Expint FresnelCos FresnelSin
Ndtri Spence""".split()
_COMPLEX = "Angle ComplexAbs Conj FFT FFT2D IFFT IFFT2D Imag Real".split()
_BINARY = "Complex Igamma IgammaGradA Igammac Polygamma Xlog1py Zeta".split()
_WHOLE = "BitwiseXor LeftShift RightShift TruncateMod".split()


def _binary(op_type, x):
    def first(*shape):
        if op_type == "Polygamma":
            return tf.cast(i(x, 3, *shape), tf.float32)
        return v(x, *shape) + (op_type == "Zeta") * 1.0

    shapes = [((3,), (3,)), ((), ()), ((2, 3), (3,)), ((3,), ())]
    made = [raw(op_type, first(*a), v(x, *b) + 1) for a, b in shapes]
    return made + [raw(op_type, first(3), u(3) + 1)]


def _whole(op_type, x):
    a, b = i(x, 9, 2, 3) + 1, i(x, 3, 3) + 1
    return [raw(op_type, a[0], b), raw(op_type, a, b), raw(op_type, a, tf.constant([1, 2, 1]))]


_OTHERS = {
    "AdjustContrastv2": lambda f, x: [f(v(x, 2, 2, 2, 3), 0.3)],
    "AdjustHue": lambda f, x: [f(v(x, 2, 2, 2, 3), 0.3)],
    "AdjustSaturation": lambda f, x: [f(v(x, 2, 2, 2, 3), 0.3)],
    "BatchToSpaceND": lambda f, x: [f(v(x, 8, 2, 2, 3), [2, 2], [[0, 0], [0, 1]])],
    "Bucketize": lambda f, x: [f(v(x, 3), boundaries=[0.3, 0.6])],
    "Cholesky": lambda f, x: [f(definite(x))],
    "ClipByValue": lambda f, x: [f(v(x, 3, 4), 0.3, 0.6)],
    "ConjugateTranspose": lambda f, x: [f(c(x, 3, 4), [1, 0])],
    "Cross": lambda f, x: [f(v(x, 2, 3), v(1 - x, 2, 3))],
    "Cumprod": lambda f, x: [f(v(x, 3, 4), 0), f(v(x, 3, 4), -1, exclusive=True, reverse=True)],
    "Cumsum": lambda f, x: [f(v(x, 3, 4), 1), f(v(x, 3, 4), -2, exclusive=True, reverse=True)],
    "Diag": lambda f, x: [f(v(x, 3))],
    "DiagPart": lambda f, x: [f(v(x, 3, 3))],
    "EnsureShape": lambda f, x: [f(v(x, 3), shape=[3])],
    "FFT3D": lambda f, x: [f(c(x, 2, 3, 4))],
    "GatherNd": lambda f, x: [
        f(v(x, 3, 4), i(x, 3, 5, 2)),
        f(v(x, 3, 4), [[1, 2], [0, 0]]),
        f(v(x, 3, 4), i(x, 3, 2, 1)),
    ],
    "IFFT3D": lambda f, x: [f(c(x, 2, 3, 4))],
    "IRFFT": lambda f, x: [f(c(x, 3, 5), [8])],
    "IRFFT2D": lambda f, x: [f(c(x, 4, 5), [4, 8])],
    "IRFFT3D": lambda f, x: [f(c(x, 2, 4, 5), [2, 4, 8])],
    "LogMatrixDeterminant": lambda f, x: list(f(definite(x) * tf.sign(v(x, 3)[0] - 0.3))),
    "LowerBound": lambda f, x: [f(tf.cumsum(v(x, 2, 5), 1), 3 * v(x, 2, 3))],
    "MatrixBandPart": lambda f, x: [f(v(x, 3, 4), 1, 0)],
    "MatrixDiag": lambda f, x: [f(v(x, 2, 3))],
    "MatrixDiagPart": lambda f, x: [f(v(x, 3, 3))],
    "MatrixDiagPartV2": lambda f, x: [f(v(x, 3, 3), 1, 0.0)],
    "MatrixDiagPartV3": lambda f, x: [f(v(x, 3, 3), [0, 1], 0.0)],
    "MatrixDiagV2": lambda f, x: [f(v(x, 3), 1, -1, -1, 0.0)],
    "MatrixDiagV3": lambda f, x: [f(v(x, 3), 0, -1, -1, 0.0)],
    "MatrixInverse": lambda f, x: [f(definite(x))],
    "MatrixSetDiag": lambda f, x: [f(v(x, 3, 3), v(x, 3))],
    "MatrixSetDiagV2": lambda f, x: [f(v(x, 3, 3), v(x, 2), 1)],
    "MatrixSetDiagV3": lambda f, x: [f(v(x, 3, 3), v(x, 3), 0)],
    "MatrixSolve": lambda f, x: [f(definite(x), v(x, 3, 2)), f(tf.eye(3) * 2, v(x, 3, 2))],
    "MatrixTriangularSolve": lambda f, x: [
        f(definite(x), v(x, 3, 2)),
        f(tf.eye(3) * 2, v(x, 3, 2)),
        f(definite(x), u(3, 2)),
    ],
    "RFFT": lambda f, x: [f(v(x, 3, 8), [8])],
    "RFFT2D": lambda f, x: [f(v(x, 4, 8), [4, 8])],
    "RFFT3D": lambda f, x: [f(v(x, 2, 4, 8), [2, 4, 8])],
    "ReverseV2": lambda f, x: [f(v(x, 3, 4), [0, -1]), f(v(x, 3, 4), [1])],
    "Select": lambda f, x: [
        f(v(x, 3, 4) > 0.5, v(x, 3, 4), -v(x, 3, 4)),
        f(v(x, 3) > 0.5, v(x, 3, 4), -v(x, 3, 4)),
        f(v(x) > 0.5, v(x, 3, 4), u(3, 4)),
        f([True, False, True], v(x, 3, 4), -v(x, 3, 4)),
    ],
    "SpaceToBatchND": lambda f, x: [f(v(x, 2, 4, 4, 3), [2, 2], [[0, 0], [0, 0]])],
    "SplitV": lambda f, x: (
        f(v(x, 3, 5), [2, 3], 1, num_split=2) + f(v(x, 3, 5), [1, 2], -2, num_split=2)
    ),
    "TopKV2": lambda f, x: list(f(v(x, 3, 5), 2)) + list(f(v(x, 5), 3)),
    "UpperBound": lambda f, x: [f(tf.cumsum(v(x, 2, 5), 1), 3 * v(x, 2, 3))],
}


def case(op_type, x):
    """The op on inputs of several kinds."""
    if op_type in _UNARY + _COMPLEX:
        made = c if op_type in _COMPLEX else v
        return [raw(op_type, made(x, *shape)) for shape in ([3, 4], [2, 3, 4])]
    if op_type in _BINARY:
        return _binary(op_type, x)
    if op_type in _WHOLE:
        return _whole(op_type, x)
    return _OTHERS[op_type](lambda *inputs, **attrs: raw(op_type, *inputs, **attrs), x)


def _cases(types, x):
    return [case(op_type, x) for op_type in types]


_HERE = [each for each in converted.CONVERTED if each in dir(tf.raw_ops)]

#: {name: function of x}: the ops that this release has, some at a time.
CASES = {
    "converted %s to %s" % (types[0], types[-1]): functools.partial(_cases, types)
    for types in [_HERE[n : n + 16] for n in range(0, len(_HERE), 16)]
}
