"""Programs whose replicas are batched give each replica its own values.

The oracle is TensorFlow, run on each replica's share alone.
"""

import numpy as np
import pytest
import tensorflow as tf

from tpudist.tfcompat import versions
from tpudist.virtual import vectorize
from tpudist.virtual.vectorize import batched_graph, rules

if not versions.TRACE_ONCE:
    pytest.skip(
        "before 2.4 the replica function is traced once per replica", allow_module_level=True
    )

from tests.virtual import converted_cases
from tests.virtual.batching_cases import CASES, SUMS, images, kernel, labels
from tests.virtual.harness import CORES, SUM, check, graph, make, run, shares
from tpudist.virtual.vectorize.rules import converted


@pytest.fixture
def strategy():
    return make()


@pytest.fixture
def batched(monkeypatch):
    """The op types of the programs that were traced, with what they became."""
    seen, batch_segments = [], vectorize.batch_segments

    def note(program, cut, known):
        found = batch_segments(program, cut, known)
        types = {op.type for stage in cut if stage for op in stage.body}
        seen.append((found is not None, types))
        return found

    monkeypatch.setattr(vectorize, "batch_segments", note)
    return seen


#: Ops that TensorFlow's own converters do not cover on old releases.
NEWLY_CONVERTED = {"ClipByValue", "EnsureShape", "TopKV2"}


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(CASES))
def test_each_replica_gets_its_own_values(strategy, batched, case):
    check(strategy, CASES[case], shares(4, 6))
    assert [was for was, _ in batched] == [True], "not batched"
    per_replica = strategy.extended.explanations[-1].record.per_replica
    assert not {ops.op_type for ops in per_replica} & set(rules.RULES) - NEWLY_CONVERTED


@pytest.mark.parametrize("case", sorted(SUMS))
def test_a_sum_over_replicas_is_that_of_their_values(strategy, batched, case):
    values, fn = shares(4, 6), SUMS[case]

    def replica(x):
        return tf.distribute.get_replica_context().all_reduce(SUM, tf.convert_to_tensor(fn(x)))

    expected = sum(tf.convert_to_tensor(fn(tf.constant(v))).numpy() for v in values)
    for (found,) in run(strategy, replica, values):
        np.testing.assert_allclose(found, expected, 1e-4)
    assert [was for was, _ in batched] == [True], "not batched"


def looked_up(table):
    return lambda x: tf.gather(table, labels(x))


def types_of(fn):
    """The op types of a program, those of its branches and loops too."""
    traced = graph(fn).get_concrete_function(tf.TensorSpec([4, 6])).graph.as_graph_def()
    bodies = [traced.node] + [function.node_def for function in traced.library.function]
    return {node.op for body in bodies for node in body}


@pytest.mark.slow
def test_every_rule_has_a_case():
    fns = [fn for name, fn in CASES.items() if name not in converted_cases.CASES]
    fns += [*SUMS.values(), looked_up(tf.Variable(kernel(6, 2)))]
    found = [types_of(fn) for fn in fns]
    with_rule = {op_type for op_type in rules.RULES if op_type in dir(tf.raw_ops)}
    with_rule -= set(converted.CONVERTED)  # a case for each is made from that list
    assert with_rule - set().union(*found) == set()


def test_what_a_variable_holds_is_gathered(strategy, batched):
    check(strategy, looked_up(tf.Variable(kernel(6, 2))), shares(4, 6))
    assert [was for was, _ in batched] == [True], "not batched"


def _products(x):
    return x[:, None] * (x[None, :] + 1.0)


@pytest.mark.parametrize(
    "fn",
    [
        SUMS["Conv2DBackpropFilter"],
        lambda x: tf.nn.dilation2d(images(x), kernel(1, 1, 3), [1] * 4, "SAME", "NHWC", [1] * 4),
        lambda x: tf.sort(tf.unique(tf.floor(x[0] * 4))[0]),
        lambda x: tf.sort(_products(tf.unique(tf.floor(x[0] * 4))[0]), 0),
        lambda x: tf.cond(x[0, 0] > 0.5, lambda: x * 2, lambda: x - 1),
        lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1],
        lambda x: tf.nn.relu(
            tf.compat.v1.nn.fused_batch_norm(images(x), tf.ones([3]), tf.zeros([3]))[0]
        ),
    ],
    ids=["filter", "dilation", "unique", "two sizes", "cond", "while", "norm"],
)
def test_an_op_without_a_rule_is_done_for_each(strategy, batched, fn):
    check(strategy, fn, shares(4, 6))
    assert [was for was, _ in batched] == [True], "not batched"


def test_a_random_op_is_done_once_per_replica(strategy, batched):
    found = run(strategy, lambda x: tf.random.uniform([8]), shares(1))
    assert batched[0][0]
    assert np.shape(found) == (CORES, 1, 8)


def test_replicas_update_their_own_variables(strategy, batched):
    with strategy.scope():
        seen = tf.Variable(
            tf.zeros([6]),
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    values = shares(4, 6)

    def replica(x):
        seen.assign_add(tf.reduce_sum(x, 0))
        return seen.read_value() * 2

    found = run(strategy, replica, values)
    np.testing.assert_allclose([replica for (replica,) in found], 2 * values.sum(1), 1e-5)
    np.testing.assert_allclose(seen.numpy(), values.sum((0, 1)), 1e-5)
    assert batched[0][0]


def test_a_variable_of_nobody_is_updated_by_every_replica(strategy, batched):
    count = tf.Variable(0.0)
    run(strategy, lambda x: count.assign_add(x[0]), np.ones([CORES, 1], np.float32))
    assert batched[0][0]
    assert count.numpy() == CORES


def test_shapes_that_only_the_run_knows_are_done_for_each(strategy, batched):
    dataset = tf.data.Dataset.range(4 * CORES).batch(4 * CORES)
    elements = iter(strategy.experimental_distribute_dataset(dataset))
    found = tf.function(lambda: strategy.run(lambda x: tf.reduce_sum(x), args=(next(elements),)))()
    assert [was for was, _ in batched] == [True]
    assert [part.numpy() for part in strategy.experimental_local_results(found)] == [6, 22, 38, 54]


def _matmul_gradient(x):
    weights = kernel(6, 3)
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = tf.reduce_sum(tf.matmul(tf.reshape(x, [2, 2, 6]), weights) ** 2)
    return tape.gradient(loss, weights)


def _masked(x):
    kept = tf.boolean_mask(x * 2, x[:, 0] > 0.5)
    return [tf.reduce_sum(kept, 0), tf.size(kept), x @ kernel(6, 2)]


def _checked(x):
    y = x @ kernel(6, 3)
    tf.debugging.assert_less(y, 1e9)
    return tf.nn.relu(y) @ kernel(3, 2)


@pytest.mark.parametrize(
    "fn, kept_apart",
    [(_matmul_gradient, ()), (_masked, ()), (_checked, {"If", "Assert"})],
    ids=["gradient of a product", "boolean_mask", "assert"],
)
def test_what_cannot_be_batched_steps_aside(strategy, monkeypatch, fn, kept_apart):
    seen, for_each = set(), batched_graph.BatchedGraph._once_per_replica
    monkeypatch.setattr(
        batched_graph.BatchedGraph,
        "_once_per_replica",
        lambda self, op, given: seen.add(op.type) or for_each(self, op, given),
    )
    check(strategy, fn, shares(4, 6))
    assert "MatMul" not in seen and "BatchMatMulV2" not in seen
    assert bool(seen & set(kept_apart)) == bool(kept_apart)


def test_a_row_that_only_another_replica_has_is_refused(strategy):
    def after(x):
        return tf.gather(x, tf.where(x > 0.5)[:, 0] + 1)

    values = np.zeros([CORES, 3], np.float32)
    values[1, 1] = 1.0
    check(strategy, after, values)
    values[1, 2] = 1.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(strategy, after, values)


#: What puts 1 at a place of four, of which each replica has another.
PUT = {
    "scatter": lambda place: tf.scatter_nd([[place]], [1.0], [4]),
    "scatter into": lambda place: tf.tensor_scatter_nd_add(tf.zeros([4]), [[place]], [1.0]),
    "segments": lambda place: tf.math.unsorted_segment_sum([1.0], [place], 4),
    "gather": lambda place: tf.gather(tf.eye(4) * tf.cast(place > -9, tf.float32), place),
}


@pytest.mark.parametrize("name", sorted(PUT))
def test_a_place_that_is_out_of_bounds_is_not_another_replicas(strategy, batched, name):
    places = np.arange(CORES, dtype=np.int32)
    check(strategy, PUT[name], places)
    per_replica = strategy.extended.explanations[-1].record.per_replica
    assert not per_replica, per_replica
    for place in (4, -1):
        places[1] = place
        if name == "segments" and place < 0:  # they are left out
            check(strategy, PUT[name], places)
            continue
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(strategy, PUT[name], places)


def test_effects_of_a_step_that_is_batched_happen_replica_by_replica(strategy, batched):
    """Between two effects on one variable, all is done per replica; the rest is batched."""
    first, second = tf.Variable(0.0), tf.Variable(0.0)
    values = shares(4, 6)

    def fn(x):
        y = tf.reduce_sum(x @ kernel(6, 3))
        first.assign_add(y)
        between = tf.tanh(first.read_value()) * 3.0
        second.assign_add(between * first)
        return second.read_value() + y, y * 2.0

    found = run(strategy, fn, values)
    total, chain = 0.0, 0.0
    for share, (got, doubled) in zip(values, found):
        y = float(np.sum(share @ kernel(6, 3).numpy()))
        total += y
        chain += np.tanh(total) * 3.0 * total
        np.testing.assert_allclose([got, doubled], [chain + y, 2 * y], 1e-4)
    assert batched[0][0]
