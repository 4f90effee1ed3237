"""The ops inside branches, loops and calls are batched, and each replica gets its own values.

The oracle is TensorFlow, run on each replica's share alone.
"""

import functools

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual import harness
from tpudist.tfcompat import versions

if not versions.TRACE_ONCE:
    pytest.skip(harness.TRACED_PER_REPLICA, allow_module_level=True)

from tests.virtual.harness import CORES, SUM, check, graph, run, shares
from tests.virtual.vectorize.batching_cases import kernel
from tests.virtual.vectorize.flow_cases import (
    BRANCHES,
    DIFFERENTIABLE,
    FUNCTIONS,
    GUARDED,
    LEFT,
    ROUNDS,
    nested,
    one_of_several,
    until_large,
    until_large_or_done,
)
from tpudist.virtual.vectorize import batched_graph


@pytest.fixture
def copied_types(monkeypatch):
    """The types of the ops that were copied once per replica."""
    seen, copy_op = set(), batched_graph.BatchedGraph._once_per_replica
    monkeypatch.setattr(
        batched_graph.BatchedGraph,
        "_once_per_replica",
        lambda self, op, inputs: seen.add(op.type) or copy_op(self, op, inputs),
    )
    return seen


batched_inside = pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
_FLOW = {
    "Case",
    "StatelessCase",
    "While",
    "StatelessWhile",
    "If",
    "StatelessIf",
    "PartitionedCall",
    "StatefulPartitionedCall",
}


@batched_inside
def test_ops_inside_control_flow_are_batched(strategy, copied_types, fn):
    weights = tf.Variable(kernel(6, 6) - 0.1)
    check(strategy, lambda x: fn(x, weights.read_value()), shares(4, 6))
    check(strategy, lambda x: fn(x, weights), shares(4, 6))
    assert not copied_types & _FLOW


@pytest.mark.slow
@batched_inside
def test_gradients_of_control_flow_are_batched(strategy, copied_types, fn):
    def gradients(x):
        weights = kernel(6, 6) - 0.1
        with tf.GradientTape() as tape:
            tape.watch([x, weights])
            loss = tf.reduce_sum(fn(x, weights) ** 2)
        return tape.gradient(loss, [x, weights])

    values = shares(4, 6)
    check(strategy, gradients, values)
    if fn is not nested:  # the inner loop's lists are made anew in each round of the outer one
        assert not copied_types & _FLOW
    copied_types.clear()
    expected = sum(gradients(tf.constant(v))[1].numpy() for v in values)

    def replica(x):
        return tf.distribute.get_replica_context().all_reduce(SUM, gradients(x)[1])

    for (outputs,) in run(strategy, replica, values):
        np.testing.assert_allclose(outputs, expected, 1e-4)
    if fn is not nested:
        assert not copied_types & _FLOW


def said(strategy):
    """The reasons why ops were copied once per replica, of the last function."""
    return {ops.reason for ops in strategy.extended.explanations[-1].record.per_replica}


def test_replicas_leave_a_loop_at_different_times(strategy):
    values = shares(4, 6) * np.array([1, 9, 0.2, 3], np.float32)[:, None, None]
    check(strategy, until_large, values)
    assert not said(strategy)


@pytest.mark.parametrize("name", sorted(GUARDED))
def test_ops_for_a_replica_that_left_a_loop_do_not_fail(strategy, name):
    def fn(values):
        stride, x = tf.cast(values[0, 0], tf.int32), values[1:]
        return tf.while_loop(
            lambda i, total: i < 4,
            lambda i, total: (i + stride, total + GUARDED[name](x, i)),
            (tf.constant(0), tf.zeros([6])),
        )

    values = shares(5, 6)
    values[:, 0, 0] = 4, 1, 2, 4
    if name == "shape":  # six numbers have no five rows
        values[:, 0, 0] = 4, 2, 2, 4
    check(strategy, fn, values)


def _of_rounds(fn, weights):
    """What a loop that replicas leave at different times gives, and its gradients."""

    def gradients(x):
        own = [
            weight if isinstance(weight, tf.Variable) else tf.constant(weight) for weight in weights
        ]
        with tf.GradientTape() as tape:
            tape.watch([x] + [weight for weight in own if not isinstance(weight, tf.Variable)])
            rounds, y, _, total = until_large_or_done(fn, x, *own)
            loss = tf.reduce_sum(y**2) + total
        return rounds, y, tape.gradient(loss, [x] + own)

    return gradients


@pytest.mark.slow
@pytest.mark.parametrize("variables", [True, False], ids=["variables", "tensors"])
@pytest.mark.parametrize("name", sorted(ROUNDS))
def test_gradients_of_a_loop_that_replicas_leave_at_different_times(strategy, name, variables):
    """Each for itself, and the sum over the replicas; one replica does no round at all."""
    weights = [np.array(kernel(6, 6)), np.array(kernel(6)) * 0.1]
    if variables:
        weights = [tf.Variable(weight) for weight in weights]
    alone = graph(_of_rounds(ROUNDS[name], weights))
    values = shares(4, 6) * np.array([1, 9, 0.2, 3], np.float32)[:, None, None]
    expected = [tf.nest.map_structure(np.array, alone(tf.constant(value))) for value in values]
    assert len({int(rounds) for rounds, *_ in expected}) > 2
    assert all(np.isfinite(each).all() for one in expected for each in tf.nest.flatten(one))

    def replica(x):
        rounds, y, gradients = _of_rounds(ROUNDS[name], weights)(x)
        return rounds, y, gradients, tf.distribute.get_replica_context().all_reduce(SUM, gradients)

    def summed(x):
        gradients = _of_rounds(ROUNDS[name], weights)(x)[2]
        return tf.distribute.get_replica_context().all_reduce(SUM, gradients[1:])

    sums = [sum(each) for each in zip(*[gradients for *_, gradients in expected])]
    for outputs, wanted in zip(run(strategy, replica, values), expected):
        for got, each in zip(outputs, tf.nest.flatten(wanted) + sums):
            np.testing.assert_allclose(got, each, 1e-4, 1e-4)
    for outputs in run(strategy, summed, values):
        for got, each in zip(outputs, sums[1:]):
            np.testing.assert_allclose(got, each, 1e-4, 1e-4)
    assert not said(strategy)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LEFT))
def test_what_a_loop_does_to_a_replica_that_left_it(strategy, name):
    """Values, gradients of each replica, and the sum of the weights' over the replicas."""
    weights, values = np.array(kernel(6, 6)) - 0.1, shares(4, 6)

    def gradients(x):
        own = tf.constant(weights)
        with tf.GradientTape() as tape:
            tape.watch([x, own])
            y = LEFT[name](x, own)
            loss = tf.reduce_sum(y**2)
        return [y] + tape.gradient(loss, [x, own])

    def summed(x):
        return tf.distribute.get_replica_context().all_reduce(SUM, gradients(x)[2])

    alone = graph(gradients)
    expected = [[part.numpy() for part in alone(tf.constant(value))] for value in values]
    for outputs, wanted in zip(run(strategy, gradients, values), expected):
        for got, each in zip(outputs, wanted):
            np.testing.assert_allclose(got, each, 1e-4, 1e-5)
    for (total,) in run(strategy, summed, values):
        np.testing.assert_allclose(total, sum(each[2] for each in expected), 1e-4, 1e-4)


class _Cell:
    """A cell as ``tf.nn.dynamic_rnn`` takes one."""

    state_size = output_size = 5

    def __init__(self, weights):
        self._weights = weights

    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 5], dtype)

    def __call__(self, inputs, state, scope=None):
        output = tf.tanh(tf.concat([inputs, state], 1) @ self._weights)
        return output, output + state


def _recurrent(x, lengths, weights):
    """Outputs, the last state and the gradients of an RNN in both directions."""
    weights = [tf.constant(weight) for weight in weights]
    cells = [_Cell(weight) for weight in weights]
    with tf.GradientTape() as tape:
        tape.watch([x] + weights)
        outputs, states = tf.compat.v1.nn.bidirectional_dynamic_rnn(
            *cells, x, lengths, dtype=tf.float32
        )
        loss = sum(tf.reduce_sum(value**2) for value in outputs + states)
    return list(outputs + states) + tape.gradient(loss, [x] + weights)


def test_an_rnn_of_sentences_of_unequal_lengths(strategy):
    """Replicas have other longest sentences; the oracle is the whole batch without replicas."""
    weights = [np.array(kernel(8, 5)), np.array(kernel(8, 5)) * 2.0]
    values = shares(3, 7, 3)
    lengths = np.random.RandomState(4).randint(0, 8, [CORES, 3]).astype(np.int32)
    lengths[0], lengths[1, 0] = 0, 7

    def replica(x):
        *outputs, one, other = _recurrent(x[:3], tf.cast(x[3, :3, 0], tf.int32), weights)
        return outputs, tf.distribute.get_replica_context().all_reduce(SUM, [one, other])

    packed = np.concatenate([values, np.zeros([CORES, 1, 7, 3], np.float32)], 1)
    packed[:, 3, :3, 0] = lengths
    whole = [value.reshape([-1, *value.shape[2:]]) for value in (values, lengths)]
    alone = graph(lambda x, lengths: _recurrent(x, lengths, weights))
    *expected, one, other = alone(*map(tf.constant, whole))
    outputs = run(strategy, replica, packed)
    for i, wanted in enumerate(expected):
        got = np.concatenate([np.array(each[i]) for each in outputs])
        np.testing.assert_allclose(got, wanted, 1e-4, 1e-5)
    for got in outputs:
        np.testing.assert_allclose(got[-2], one, 1e-4, 1e-5)
        np.testing.assert_allclose(got[-1], other, 1e-4, 1e-5)
    assert said(strategy) == {"each replica is checked"}  # the lengths are, before the loop


@pytest.mark.parametrize("name", sorted(BRANCHES))
def test_replicas_take_different_branches(strategy, name):
    one, other = BRANCHES[name]
    values = shares(4, 6)
    assert len(set(values[:, 0, 0] > 0.5)) == 2
    check(strategy, lambda x: tf.cond(x[0, 0] > 0.5, lambda: one(x), lambda: other(x)), values)
    assert said(strategy) == {"replicas take different branches"}


@pytest.mark.parametrize("shift", [-1, 0, 2])
def test_replicas_take_one_of_several_branches(strategy, shift):
    """The last branch is also taken for indices out of bounds."""
    values = shares(4, 6)
    values[:, 0, 0] = (np.arange(CORES) + 0.5) / CORES
    check(strategy, lambda x: one_of_several(x, CORES, shift), values)


def _gradients(fn, condition):
    """The gradients of a branch for `x` and for weights."""

    def gradients(x):
        weights = kernel(6, 6)
        with tf.GradientTape() as tape:
            tape.watch([x, weights])
            one, other = [functools.partial(branch, x, weights) for branch in fn]
            loss = tf.reduce_sum(tf.cond(condition(x), one, other) ** 2)
        outputs = tape.gradient(loss, [x, weights], unconnected_gradients="zero")
        return [tf.convert_to_tensor(value) for value in outputs]

    return gradients


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
def test_gradients_of_divergent_branches(strategy, name):
    check(strategy, _gradients(DIFFERENTIABLE[name], lambda x: x[0, 0] > 0.5), shares(4, 6))


@pytest.mark.slow
@pytest.mark.parametrize("differ", [True, False])
@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
def test_gradients_of_branches_after_a_merge(strategy, name, differ):
    """Values that a branch packs for its gradient are passed to another segment."""
    one, *branches = tf.Variable(1.0), *DIFFERENTIABLE[name]

    def gradient(x, total=None):
        weights = kernel(6, 6)
        with tf.GradientTape() as tape:
            tape.watch(x)
            taken = x[0, 0] > 0.5 if differ else one > 0.0
            y = tf.cond(taken, *[functools.partial(branch, x, weights) for branch in branches])
        if total is None:
            context = tf.distribute.get_replica_context()
            return tape.gradient(y, x, context.all_reduce(SUM, tf.reduce_mean(y)) * y)
        return y, tape.gradient(y, x, total * y)

    values = shares(4, 6)
    alone = graph(gradient)
    total = sum(tf.reduce_mean(alone(tf.constant(v), 0.0)[0]) for v in values)
    for (outputs,), share in zip(run(strategy, gradient, values), values):
        expected = alone(tf.constant(share), total)[1]
        np.testing.assert_allclose(outputs, expected, 1e-4, 1e-5)


def test_gradients_of_divergent_branches_inside_of_a_branch(strategy):
    one = tf.Variable(1.0)

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x[0, 0] > 0.5, lambda: tf.sin(tf.sin(x)), lambda: tf.exp(tf.exp(x)))
        return tf.cond(one > 0.0, lambda: tape.gradient(y, x), lambda: x)

    check(strategy, gradient, shares(4, 6))


@pytest.mark.slow
@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
def test_gradients_of_uniform_branches(strategy, copied_types, name, taken):
    """Values that a branch packs for its gradient are packed for all replicas at once."""
    one = tf.Variable(1.0)
    check(strategy, _gradients(DIFFERENTIABLE[name], lambda x: (one > 0.0) == taken), shares(4, 6))
    assert not copied_types & {"OptionalFromValue", "OptionalGetValue"}


def test_random_numbers_of_a_loop_differ_between_replicas(strategy):
    def fn(x):
        return tf.while_loop(
            lambda i, y: i < 2,
            lambda i, y: (i + 1, y + tf.random.uniform([6])),
            (tf.constant(0), x),
        )[1]

    outputs = np.array(run(strategy, fn, np.zeros([CORES, 4, 6], np.float32)))
    assert len(np.unique(outputs[:, 0, 0, 0])) == CORES


def test_a_loop_with_an_effect_is_done_replica_by_replica(strategy, copied_types):
    shared = tf.Variable(1.0)

    def fn(x):
        def step(i, y):
            shared.assign_add(y)
            return i + 1, shared.read_value()

        return tf.while_loop(lambda i, y: i < 2, step, (tf.constant(0), x))[1]

    outputs = run(strategy, fn, np.arange(CORES, dtype=np.float32))
    value, expected = 1.0, []
    for replica in range(CORES):
        y = float(replica)
        for _ in range(2):
            value += y
            y = value
        expected.append(y)
    assert [got for (got,) in outputs] == expected
    assert "While" in copied_types


def test_an_lstm_is_trained_as_without_replicas(strategy, copied_types):
    """A Keras LSTM: a gradient of the whole batch is the sum of the replicas'."""
    with strategy.scope():
        layer = tf.keras.layers.LSTM(5, return_sequences=True)
        layer.build((None, 7, 3))
    values = shares(2, 7, 3)

    def gradients(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x) ** 2)
        return tape.gradient(loss, layer.trainable_variables)

    def replica(x):
        return tf.distribute.get_replica_context().all_reduce(SUM, gradients(x))

    expected = graph(gradients)(tf.constant(values.reshape(-1, 7, 3)))
    for outputs in run(strategy, replica, values):
        for got, wanted in zip(outputs, expected):
            np.testing.assert_allclose(got, wanted.numpy(), 1e-4, 1e-5)
    assert not copied_types & {"While", "StatelessWhile"}


def test_a_list_that_begins_the_same_for_all_gets_elements_of_each_replica(strategy):
    def fn(x):
        values = tf.TensorArray(tf.float32, 3, element_shape=[3]).write(0, tf.ones([3]))

        def body(i, held):
            return i + 1, held.write(i, x * tf.cast(i, tf.float32))

        return tf.while_loop(lambda i, held: i < 3, body, [1, values])[1].stack()

    check(strategy, fn, shares(3))
