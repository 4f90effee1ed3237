"""Programs whose replicas are batched give each replica its own values.

The oracle is TensorFlow, run on each replica's share alone.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual import harness
from tpudist.tfcompat import versions
from tpudist.virtual import vectorize
from tpudist.virtual.vectorize import batched_graph, rules

if not versions.TRACE_ONCE:
    pytest.skip(harness.TRACED_PER_REPLICA, allow_module_level=True)

from tests.virtual.harness import CORES, SUM, check, graph, run, shares
from tests.virtual.vectorize import converted_cases
from tests.virtual.vectorize.batching_cases import (
    CASES,
    SUMS,
    WITHOUT_RULES,
    images,
    kernel,
    labels,
    masked,
)
from tpudist.virtual.vectorize.rules import converted


@pytest.fixture
def batched(monkeypatch):
    """For each segment that was built, whether it was batched."""
    seen, batch_segment = [], vectorize.batch_segment

    def note(program, segment, known):
        made = batch_segment(program, segment, known)
        seen.append(made is not None)
        return made

    monkeypatch.setattr(vectorize, "batch_segment", note)
    return seen


#: Ops that TensorFlow's own converters do not cover on old releases.
NEWLY_CONVERTED = {"ClipByValue", "EnsureShape", "TopKV2"}


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(CASES))
def test_each_replica_gets_its_own_values(strategy, batched, case):
    check(strategy, CASES[case], shares(4, 6))
    assert batched and all(batched)
    per_replica = strategy.extended.explanations[-1].record.per_replica
    assert not {ops.op_type for ops in per_replica} & set(rules.RULES) - NEWLY_CONVERTED


@pytest.mark.parametrize("case", sorted(SUMS))
def test_a_sum_over_replicas_is_that_of_their_values(strategy, batched, case):
    values, fn = shares(4, 6), SUMS[case]

    def replica(x):
        return tf.distribute.get_replica_context().all_reduce(SUM, tf.convert_to_tensor(fn(x)))

    expected = sum(tf.convert_to_tensor(fn(tf.constant(v))).numpy() for v in values)
    for (outputs,) in run(strategy, replica, values):
        np.testing.assert_allclose(outputs, expected, 1e-4)
    assert batched and all(batched)


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
    outputs = [types_of(fn) for fn in fns]
    with_rule = {op_type for op_type in rules.RULES if op_type in dir(tf.raw_ops)}
    with_rule -= set(converted.CONVERTED)  # a case for each is made from that list
    assert with_rule - set().union(*outputs) == set()


def test_rows_of_a_variable_are_gathered(strategy, batched):
    check(strategy, looked_up(tf.Variable(kernel(6, 2))), shares(4, 6))
    assert batched and all(batched)


def test_rows_that_a_condition_picks_are_done_by_each_replica(strategy):
    check(strategy, masked, shares(4, 6))
    copied = {ops.op_type for ops in strategy.extended.explanations[-1].record.per_replica}
    assert {"Where", "GatherV2"} <= copied


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
def test_an_op_without_a_rule_is_copied_per_replica(strategy, batched, fn):
    check(strategy, fn, shares(4, 6))
    assert batched and all(batched)


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(WITHOUT_RULES))
def test_ops_without_a_rule_are_told(strategy, case):
    check(strategy, WITHOUT_RULES[case], shares(4, 6))
    told = {ops.reason for ops in strategy.extended.explanations[-1].record.per_replica}
    assert told & {
        "no batching rule",
        "the batching rule does not cover these shapes or attributes",
    }


def test_a_random_op_is_done_once_per_replica(strategy, batched):
    outputs = run(strategy, lambda x: tf.random.uniform([8]), shares(1))
    assert batched and all(batched)
    assert np.shape(outputs) == (CORES, 1, 8)


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

    outputs = run(strategy, replica, values)
    np.testing.assert_allclose([replica for (replica,) in outputs], 2 * values.sum(1), 1e-5)
    np.testing.assert_allclose(seen.numpy(), values.sum((0, 1)), 1e-5)
    assert batched and all(batched)


def test_a_variable_outside_of_the_strategy_is_updated_by_every_replica(strategy, batched):
    count = tf.Variable(0.0)
    run(strategy, lambda x: count.assign_add(x[0]), np.ones([CORES, 1], np.float32))
    assert batched and all(batched)
    assert count.numpy() == CORES


def test_ops_of_unknown_shape_are_copied_per_replica(strategy, batched):
    dataset = tf.data.Dataset.range(4 * CORES).batch(4 * CORES)
    elements = iter(strategy.experimental_distribute_dataset(dataset))
    outputs = tf.function(
        lambda: strategy.run(lambda x: tf.reduce_sum(x), args=(next(elements),))
    )()
    assert batched and all(batched)
    assert [part.numpy() for part in strategy.experimental_local_results(outputs)] == [
        6,
        22,
        38,
        54,
    ]


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
    ("fn", "copied_types"),
    [(_matmul_gradient, ()), (_masked, ()), (_checked, {"If", "Assert"})],
    ids=["gradient of a product", "boolean_mask", "assert"],
)
def test_an_op_that_cannot_be_batched_leaves_the_others_batched(
    strategy, monkeypatch, fn, copied_types
):
    seen, copy_op = set(), batched_graph.BatchedGraph._once_per_replica
    monkeypatch.setattr(
        batched_graph.BatchedGraph,
        "_once_per_replica",
        lambda self, op, inputs: seen.add(op.type) or copy_op(self, op, inputs),
    )
    check(strategy, fn, shares(4, 6))
    assert "MatMul" not in seen and "BatchMatMulV2" not in seen
    assert bool(seen & set(copied_types)) == bool(copied_types)


def test_gathering_a_row_that_only_another_replica_has_is_an_error(strategy):
    def after(x):
        return tf.gather(x, tf.where(x > 0.5)[:, 0] + 1)

    values = np.zeros([CORES, 3], np.float32)
    values[1, 1] = 1.0
    check(strategy, after, values)
    values[1, 2] = 1.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(strategy, after, values)


#: Functions that set, or read, one of four elements; each replica has another index.
PUT = {
    "scatter": lambda place: tf.scatter_nd([[place]], [1.0], [4]),
    "scatter into": lambda place: tf.tensor_scatter_nd_add(tf.zeros([4]), [[place]], [1.0]),
    "segments": lambda place: tf.math.unsorted_segment_sum([1.0], [place], 4),
    "gather": lambda place: tf.gather(tf.eye(4) * tf.cast(place > -9, tf.float32), place),
}


@pytest.mark.parametrize("name", sorted(PUT))
def test_an_index_out_of_bounds_is_not_that_of_another_replica(strategy, batched, name):
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


def test_effects_of_a_batched_step_happen_replica_by_replica(strategy, batched):
    """Between two effects on one variable, all is done per replica; the rest is batched."""
    first, second = tf.Variable(0.0), tf.Variable(0.0)
    values = shares(4, 6)

    def fn(x):
        y = tf.reduce_sum(x @ kernel(6, 3))
        first.assign_add(y)
        between = tf.tanh(first.read_value()) * 3.0
        second.assign_add(between * first)
        return second.read_value() + y, y * 2.0

    outputs = run(strategy, fn, values)
    total, chain = 0.0, 0.0
    for share, (got, doubled) in zip(values, outputs):
        y = float(np.sum(share @ kernel(6, 3).numpy()))
        total += y
        chain += np.tanh(total) * 3.0 * total
        np.testing.assert_allclose([got, doubled], [chain + y, 2 * y], 1e-4)
    assert batched and all(batched)
