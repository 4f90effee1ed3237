"""Ragged values: replicas with unequal, unknown numbers of rows are batched.

The oracle is TensorFlow, run on each replica's share alone.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual import harness
from tpudist.tfcompat import distributed, versions

if not versions.TRACE_ONCE:
    pytest.skip(harness.TRACED_PER_REPLICA, allow_module_level=True)

from tests.virtual.harness import CORES, SUM, graph, make
from tests.virtual.vectorize.batching_cases import kernel
from tests.virtual.vectorize.unknown_cases import CASES, COPIED_TYPES, SUMS, each_op, gradient
from tpudist.virtual.vectorize.rules import elementwise

#: How many rows each replica has.
SIZES = {"equal": (4, 4, 4, 4), "one": (1, 1, 1, 1), "last": (4, 4, 3, 1), "empty": (3, 4, 0, 1)}


#: Cases of which TensorFlow's own kernels take no empty batch; on one, oneDNN's gradient of
#: max_pool3d ends the process.
NOT_EMPTY = ("convolutions", "reflected", "volumes")


@pytest.fixture(scope="module")
def strategy():
    return make()


def shares(sizes, width=6):
    """Numbers from 0.1 to 0.9, others for each replica."""
    random = np.random.RandomState(width)
    return [random.uniform(0.1, 0.9, (n, width)).astype(np.float32) for n in sizes]


def spec(width):
    return tf.TensorSpec([None, width], tf.float32)


def batched(strategy, fn, widths):
    """What runs `fn` on the replicas' shares, whose sizes are unknown in the trace.

    The function returned takes a list of arrays for each argument of `fn`, and returns for
    each replica the list of its results.
    """
    signature = [[spec(width)] * CORES for width in widths]

    @graph(input_signature=signature)
    def step(*inputs):
        args = tuple(distributed.per_replica(strategy.extended, list(values)) for values in inputs)
        return strategy.run(fn, args=args)

    def results(*columns):
        outputs = step(*[list(map(tf.constant, column)) for column in columns])
        parts = [strategy.experimental_local_results(leaf) for leaf in tf.nest.flatten(outputs)]
        return [[part.numpy() for part in replica] for replica in zip(*parts)]

    return results


def check(strategy, fn, kinds=tuple(SIZES), widths=(6, 1)):
    """Compares the replicas' results of `fn` with TensorFlow's on each share."""
    together = batched(strategy, fn, widths)
    alone = graph(fn, input_signature=[spec(width) for width in widths])
    for kind in kinds:
        columns = [shares(SIZES[kind], width) for width in widths]
        outputs = together(*columns)
        for replica, row in enumerate(zip(*columns)):
            expected = tf.nest.flatten(alone(*map(tf.constant, row)))
            for i, (got, wanted) in enumerate(zip(outputs[replica], expected)):
                message = "%s, replica %d, result %d" % (kind, replica, i)
                np.testing.assert_allclose(got, wanted.numpy(), 1e-4, 1e-5, err_msg=message)


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(CASES))
def test_each_replica_gets_its_own_rows(strategy, case):
    kinds = [kind for kind in SIZES if kind != "empty" or case not in NOT_EMPTY]
    check(strategy, CASES[case], kinds)
    record = strategy.extended.explanations[-1].record
    assert {ops.op_type for ops in record.per_replica} == set(COPIED_TYPES.get(case, "").split())


@pytest.mark.parametrize("case", sorted(SUMS))
def test_a_sum_over_replicas_is_that_of_their_rows(strategy, case):
    fn = SUMS[case]

    def replica(x):
        return tf.distribute.get_replica_context().all_reduce(SUM, fn(x))

    together = batched(strategy, replica, [6])
    for kind in ("equal", "last"):
        values = shares(SIZES[kind])
        expected = sum(tf.convert_to_tensor(fn(tf.constant(value))).numpy() for value in values)
        for (outputs,) in together(values):
            np.testing.assert_allclose(outputs, expected, 1e-4)
    assert not strategy.extended.explanations[-1].record.per_replica


@pytest.mark.parametrize(
    "types", [elementwise.UNARY, elementwise.BROADCAST, elementwise.SAME_SHAPE], ids=len
)
def test_elementwise_ops(strategy, types):
    check(strategy, lambda x: [each_op(op_type, x) for op_type in types], ["last"], [6])
    assert not strategy.extended.explanations[-1].record.per_replica


def test_one_row_for_all_is_broadcast_to_the_rows_of_another(strategy):
    """Of two batches of unknown size one may have a single row where the other has more."""

    def replica(x, y):
        return [x * y] + gradient(lambda x, y: tf.reduce_sum((x - y) ** 2), x, y)

    together = batched(strategy, replica, [6, 1])
    for many, one in ([3, 1, 2, 4], [1, 1, 2, 1]), ([1, 1, 1, 1], [2, 5, 0, 1]):
        columns = shares(many), shares(one, 1)
        for outputs, (x, y) in zip(together(*columns), zip(*columns)):
            for got, wanted in zip(outputs, replica(tf.constant(x), tf.constant(y))):
                np.testing.assert_allclose(got, wanted.numpy(), 1e-5)


def test_one_matrix_for_all_is_broadcast_to_the_matrices_of_another(strategy):
    """The axes before matrices are broadcast too."""

    def products(x, y):
        return tf.matmul(tf.reshape(x, [-1, 2, 3]), tf.reshape(y, [-1, 3, 1]))

    columns = shares([3, 1, 2, 4]), shares([1, 1, 2, 1], 3)
    outputs = batched(strategy, products, [6, 3])(*columns)
    for (got,), (x, y) in zip(outputs, zip(*columns)):
        np.testing.assert_allclose(got, products(tf.constant(x), tf.constant(y)).numpy(), 1e-5)


@pytest.mark.parametrize(
    ("fn", "sizes"),
    [
        (lambda x, y: x * y, [3, 2, 2, 4]),
        (lambda x, y: tf.concat([x, y], 1), [3, 2, 2, 4]),
        (lambda x, y: tf.gather(x, tf.range(tf.shape(y)[0])), [3, 2, 2, 3]),
    ],
    ids=["product", "concatenation", "gather"],
)
def test_an_error_of_one_replica_is_raised(strategy, fn, sizes):
    together = batched(strategy, fn, [6, 1])
    together(shares([2, 3, 2, 4]), shares([2, 3, 2, 4], 1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        together(shares([2, 3, 2, 4]), shares(sizes, 1))


def test_numbers_are_drawn_for_the_rows_of_each_replica(strategy):
    together = batched(
        strategy, lambda x: [tf.nn.dropout(x, 0.5), tf.random.uniform([tf.shape(x)[0]])], [6]
    )
    for (kept, drawn), x in zip(together(shares([3, 1, 0, 2])), shares([3, 1, 0, 2])):
        np.testing.assert_allclose(kept * (kept - 2 * x), 0 * x, atol=1e-6)
        assert drawn.shape == x.shape[:1]


def test_the_last_batch_of_a_dataset_is_batched(strategy):
    features, labels = np.random.RandomState(0).rand(22, 6).astype("f"), np.arange(22) % 3
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(8)

    def train(initial, batches, run):
        weights = initial()

        def replica(x, y):
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, x @ weights)
                loss = tf.reduce_sum(losses) / 8
            (gradient,) = tape.gradient(loss, [weights])
            context = tf.distribute.get_replica_context()
            weights.assign_sub(context.all_reduce(SUM, gradient))

        @tf.function
        def epoch(batches):
            for batch in batches:
                run(replica, args=batch)

        epoch(batches)
        return weights.numpy()

    def initial():
        return tf.Variable(kernel(6, 3), aggregation=tf.VariableAggregation.MEAN)

    with strategy.scope():
        outputs = train(initial, strategy.experimental_distribute_dataset(dataset), strategy.run)
    assert "MatMul" not in str(strategy.extended.explanations[-1])
    plain = tf.distribute.get_strategy()
    np.testing.assert_allclose(outputs, train(initial, dataset, plain.run), 1e-5)
