"""Cases that people try on a TPU: what the virtual TPU tells of them, and what libtpu says."""

import numpy as np
import pytest
import tensorflow as tf

import tpudist
from tests.helpers.generations import second_generation
from tests.virtual import harness
from tpudist.errors import CompileError
from tpudist.tfcompat import versions
from tpudist.virtual.tpu_check import table

pytestmark = second_generation

TABLE = []


def _looked_up(x):
    if not TABLE:
        with tf.init_scope():
            pairs = tf.lookup.KeyValueTensorInitializer(
                tf.constant([1, 2], tf.int64), tf.constant([5, 6], tf.int64)
            )
            TABLE.append(tf.lookup.StaticHashTable(pairs, -1))
    return TABLE[0].lookup(tf.cast(x, tf.int64))


def _printed(x):
    tf.print("hello", x[0])
    return x


def _asserted(x):
    tf.debugging.assert_equal(x, x)
    return x


def _ragged(x):
    return tf.ragged.constant([[1.0, 2.0], [3.0]]).to_tensor() * x[0]


def _intersection(x):
    sets = [tf.cast(tf.stack([x]), tf.int32), tf.constant([[2, 3]])]
    return tf.sets.intersection(*sets).values


def _distance(x):
    sparse = [tf.sparse.from_dense(tf.cast([x, x], tf.int32)) for _ in range(2)]
    return tf.edit_distance(*sparse)


def _sparse_product(x):
    return tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(tf.eye(4)), x[:, None])


def _suppressed(x):
    return tf.image.non_max_suppression(tf.ones([4, 4]), x, 3)


def _upsampled(x):
    """The gradient has a kernel in builds for TPUs only, which libtpu gets no HLO of."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.image.resize(tf.reshape(x, [1, 2, 2, 1]), [4, 4], "nearest")
    return tape.gradient(y, x)


def _ctc(x):
    """Has a function that is called by its name as the type of an op."""
    logits = tf.reshape(tf.stack([x] * 4), [4, 1, 4])
    return tf.nn.ctc_loss(tf.constant([[1, 2]]), logits, [2], [4], blank_index=0)


def _branch_gradient(x):
    """Its branches need different values again: TensorFlow makes optional ones of them."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(x[0] > 0, lambda: tf.sin(x) * tf.exp(x), lambda: x)
    return tape.gradient(y, x)


#: Told on releases whose XLA had no kernel of it yet (until 2.4, of one op or the other).
BINCOUNT = "Bincount" if {"Bincount", "DenseBincount"} & table.tpu_ops().refused else None

#: {case: (function, the types of ops that are told, None for no line)}
CASES = {
    "py_function": (lambda x: tf.py_function(lambda a: a * 2, [x], tf.float32), "EagerPyFunc"),
    "numpy_function": (lambda x: tf.numpy_function(np.sort, [x], tf.float32), "PyFunc"),
    "string_literal": (lambda x: tf.strings.length("abc") + tf.cast(x, tf.int32), "StringLength"),
    "as_string": (lambda x: tf.strings.length(tf.strings.as_string(x)), "AsString, StringLength"),
    "decode_png": (lambda x: tf.io.decode_png(tf.io.read_file("image.png")), "ReadFile"),
    "hash_table": (_looked_up, "LookupTableFindV2"),
    "ragged": (_ragged, "RaggedTensorToTensor"),
    "sparse_mm": (_sparse_product, "SparseTensorDenseMatMul"),
    "sets": (_intersection, "DenseToDenseSetOperation"),
    "edit_distance": (_distance, "EditDistance"),
    "print": (_printed, "StringFormat, PrintV2"),
    "complex128": (lambda x: tf.math.abs(tf.cast(x, tf.complex128)), "Cast"),
    "int64_product": (lambda x: tf.cast([x], tf.int64) @ tf.cast(x[:, None], tf.int64), "MatMul"),
    "float64_draw": (lambda x: tf.random.uniform([2], dtype=tf.float64), "RandomUniform"),
    "shape_of_a_value": (
        lambda x: tf.reshape(tf.range(tf.cast(x[0], tf.int32) * 2), [2, -1]),
        "Range",
    ),
    "random_shape": (lambda x: tf.zeros([tf.cast(tf.random.uniform([]), tf.int32) + 1]), "Fill"),
    "axis_of_a_value": (lambda x: tf.reduce_sum([x], tf.cast(x[0], tf.int32) % 2), "Sum"),
    "depth_of_a_value": (lambda x: tf.one_hot([1], tf.cast(x[0], tf.int32)), "OneHot"),
    "sizes_of_a_value": (lambda x: tf.split(x, [tf.cast(x[1], tf.int32), 3])[0], "SplitV"),
    "segments_of_a_value": (
        lambda x: tf.math.unsorted_segment_sum(x, [0, 0, 1, 1], tf.cast(x[0], tf.int32)),
        "UnsortedSegmentSum",
    ),
    "complex64_inverse": (
        lambda x: tf.linalg.inv(tf.cast(tf.linalg.diag(x), tf.complex64)),
        "MatrixInverse",
    ),
    "string_compared": (lambda x: tf.cast(tf.equal(["a", "b"], "a"), tf.float32) + x[:2], "Equal"),
    "upsampled": (_upsampled, None),
    "slice_of_a_value": (lambda x: x[tf.cast(x[0], tf.int32) :], None),
    "largest_of_a_value": (lambda x: tf.math.top_k(x, tf.cast(x[1], tf.int32))[0], None),
    "unique": (lambda x: tf.unique(x)[0], None),
    "where": (lambda x: tf.where(x > 1.0), None),
    "boolean_mask": (lambda x: tf.boolean_mask(x, x > 1.0), None),
    "nms": (_suppressed, None),
    "bincount": (lambda x: tf.math.bincount([1, 1, 2], dtype=tf.float32) * x[0], BINCOUNT),
    "uint16": (lambda x: tf.cast(tf.cast(x, tf.uint16), tf.float32) + x, None),
    "int64_sum": (lambda x: tf.reduce_sum(tf.cast(x, tf.int64) * 2), None),
    "float64_product": (lambda x: tf.cast([x], tf.float64) @ tf.ones([4, 2], tf.float64), None),
    "complex64_product": (
        lambda x: tf.cast([x], tf.complex64) @ tf.eye(4, dtype="complex64"),
        None,
    ),
    "float64_svd": (lambda x: tf.linalg.svd(tf.linalg.diag(tf.cast(x, tf.float64)))[0], None),
    "shape_of_a_tensor": (lambda x: tf.reshape(x, [tf.shape(x)[0] // 2, -1]), None),
    "assertion": (_asserted, None),
    "ctc": (_ctc, None),
    "ctc_and_a_string": (lambda x: (_ctc(x), tf.strings.as_string(x)), "AsString"),
    "branch_gradient": (_branch_gradient, None),
    "unused_string": (lambda x: (tf.strings.as_string(x), x)[1], None),
}

#: Cases of which ``compile_step`` says something else than TensorFlow does on a TPU, and why.
DIFFERS = {
    "complex128": "libtpu gets HLO; TensorFlow has no kernels but for kTpuAllTypes (tpu_defs.h)",
    "upsampled": "TensorFlow has the kernel in its builds for TPUs, and lowers by that for CPUs",
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_is_told_as_on_a_tpu(name, strategy, lines):
    fn, op_types = CASES[name]
    values = np.array([[3.0, 1.0, 2.0, 1.0]] * harness.CORES, np.float32)
    harness.graph(lambda x: strategy.run(fn, args=(x,))).get_concrete_function(
        harness.distributed(strategy, values)
    )
    found = lines()
    if op_types is None:
        assert found == []
    else:
        assert op_types in ": ".join(found), found
        assert all(line.startswith(__file__ + ":") for line in found), found


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.skipif(not versions.LOWERS_TO_HLO, reason="values are compiled in before 2.12")
@pytest.mark.parametrize("name", sorted(set(CASES) - set(DIFFERS)))
def test_the_compiler_agrees(name, strategy):
    pytest.importorskip("libtpu")
    fn, op_types = CASES[name]
    try:
        report = tpudist.compile_step(strategy, fn, [tf.TensorSpec([4])], fast=True)
        assert report.ok == (op_types is None), report.failure
    except CompileError as error:
        assert op_types, error
