"""Errors of batching rules: the op is copied per replica, and the explanation says why."""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual import harness
from tpudist import machine
from tpudist.tfcompat import versions
from tpudist.virtual.vectorize import batched_graph, rules
from tpudist.virtual.vectorize.values import batched_values

if not versions.TRACE_ONCE:
    pytest.skip(harness.TRACED_PER_REPLICA, allow_module_level=True)

from tests.virtual.harness import SUM, check, run, shares


def raises(node):
    raise ValueError("6 is not 3\nand a second line")


def of_another_shape(node):
    return [batched_values.Batch(node.count, node.shape() + [2], rows=node.inputs[0].rows())]


def use(monkeypatch, rule, op_type="Sin"):
    monkeypatch.setitem(rules.RULES, op_type, rule)
    monkeypatch.delenv(machine.STRICT_BATCHING)


@pytest.mark.parametrize(
    ("rule", "reported"),
    [
        (raises, "its batching rule failed with ValueError: 6 is not 3"),
        (of_another_shape, "its batching rule failed with WrongShape: Sin gives"),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_an_op_whose_rule_fails_is_copied_per_replica(
    strategy, monkeypatch, rule, reported, nested
):
    def fn(x):
        if not nested:
            return tf.cos(tf.sin(x)) + 1
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y)), (0, x))[1]

    use(monkeypatch, rule)
    check(strategy, fn, shares(4, 6))
    (reason,) = [
        ops.reason
        for ops in strategy.extended.explanations[-1].record.per_replica
        if ops.op_type == "Sin"
    ]
    assert reason.startswith(reported) and "\n" not in reason


def test_an_error_outside_of_a_rule_leaves_the_segment_unbatched(strategy, monkeypatch):
    def output_value(self, tensor, per_replica):
        raise KeyError("a tensor")

    monkeypatch.setattr(batched_graph.BatchedGraph, "output_value", output_value)
    monkeypatch.delenv(machine.STRICT_BATCHING)
    check(strategy, lambda x: tf.sin(x) * 2, shares(4, 6))
    (ops,) = {
        ops for ops in strategy.extended.explanations[-1].record.per_replica if ops.op_type == "Sin"
    }
    assert "KeyError" in ops.reason


@pytest.mark.parametrize(("rule", "error"), [(raises, ValueError), (of_another_shape, Exception)])
def test_strict_batching_raises_the_error_of_a_rule(strategy, monkeypatch, rule, error):
    monkeypatch.setitem(rules.RULES, "Sin", rule)
    with pytest.raises(error, match="6 is not 3|Sin gives"):
        run(strategy, tf.sin, shares(4, 6))


def embedded(table):
    return lambda x: tf.gather(table, tf.cast(x * 5, tf.int32))


def test_rows_gathered_by_a_vector_are_taken_by_other_ops(strategy):
    """The gradient of a squared embedding adds gathered rows to rows of a sum."""
    table = tf.constant(np.arange(15, dtype=np.float32).reshape([5, 3]) / 10)

    def fn(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = tf.sin(embedded(table)(x)) * x[:, None]
            loss = tf.reduce_sum(rows * rows)
        return tape.gradient(loss, x), tf.cos(embedded(table)(x)) * tf.add_n([rows, rows])

    check(strategy, fn, shares(3))


def test_a_defun_takes_ragged_rows(strategy):
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, func_name="twice")
    def twice(x):
        return tf.sin(x) * 2.0

    dataset = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(12.0), [6, 2])).batch(5)
    iterator = iter(strategy.experimental_distribute_dataset(dataset))

    @tf.function
    def step(iterator):
        def replica(x):
            inputs = tf.reduce_sum(twice(x))
            return tf.distribute.get_replica_context().all_reduce(SUM, inputs)

        return strategy.run(replica, (next(iterator),))

    outputs = strategy.experimental_local_results(step(iterator))
    np.testing.assert_allclose(outputs, [np.sum(np.sin(np.arange(10.0)) * 2)] * 4, 1e-5)


def test_a_division_by_zero_in_a_branch_that_is_not_taken(strategy):
    def fn(x):
        return tf.cond(
            tf.reduce_sum(x) > 1e9,
            lambda: tf.cast(tf.constant(1) // tf.constant(0), tf.float32) + x,
            lambda: x * 2,
        )

    check(strategy, fn, shares(4, 6))
