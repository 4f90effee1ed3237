"""Steps read and assign each replica's own copy of a variable in the order of the program."""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual.harness import CORES, called, copy_values, make, results, traced
from tpudist.tfcompat import versions

pytestmark = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 replicas are traced one by one"
)

VALUES = np.arange(1, 13, dtype=np.float32).reshape([CORES, 3])


def variables(strategy, count=1, **options):
    with strategy.scope():
        return [tf.Variable([1.0, 2.0, 3.0], **options) for _ in range(count)]


def steps(replica):
    """The results of `replica`, of a variable and a value, in two steps; the final values."""
    strategy = make(CORES)
    (variable,) = variables(strategy, trainable=False)
    function, inputs = traced(strategy, lambda x: replica(variable, x), VALUES)
    outputs = [results(strategy, function, inputs) for _ in range(2)]
    return outputs, copy_values(strategy, variable)


def expected(replica):
    """The same of each replica alone, in numpy: `replica` returns a result and the new value."""
    now = [np.array([1.0, 2.0, 3.0], np.float32)] * CORES
    outputs = []
    for _ in range(2):
        inputs, now = zip(*[replica(value, x) for value, x in zip(now, VALUES)])
        outputs.append(inputs)
    return outputs, now


def check(replica, alone):
    outputs, now = steps(replica)
    want, last = expected(alone)
    np.testing.assert_allclose(outputs, want, rtol=1e-6)
    np.testing.assert_allclose(now, last, rtol=1e-6)


def test_a_value_that_is_read_and_then_assigned():
    def replica(variable, x):
        before = variable * 2.0
        variable.assign(x + variable)
        return before

    check(replica, lambda value, x: (value * 2, x + value))


def test_a_value_is_read_before_and_after_it_is_assigned():
    def replica(variable, x):
        before = variable.read_value()
        variable.assign_add(x * before)
        return before + 10.0 * variable.read_value()

    check(replica, lambda value, x: (value + 10 * (value + x * value), value + x * value))


def test_a_variable_is_assigned_twice():
    def replica(variable, x):
        variable.assign(x)
        variable.assign_sub(x * x)
        return x

    check(replica, lambda value, x: (x, x - x * x))


def test_an_assigned_value_may_be_independent_of_the_read():
    def replica(variable, x):
        before = variable.read_value()
        variable.assign(x)
        return before

    check(replica, lambda value, x: (value, x))


def test_ops_that_wait_for_an_assignment_run_after_it():
    def replica(variable, x):
        assigned = variable.assign_add(x)
        with tf.control_dependencies([tf.identity(assigned)]):
            return tf.identity(variable.read_value())

    check(replica, lambda value, x: (value + x, value + x))


def test_an_assignment_waits_for_another_variable():
    """Of variables that replicas share the last replica's value stays."""
    strategy = make(CORES)
    (own,) = variables(strategy, trainable=False)
    plain = tf.Variable([0.0, 0.0, 0.0])

    def replica(x):
        with tf.control_dependencies([plain.assign(x)]):
            own.assign(x + plain)
        return own.read_value()

    function, inputs = traced(strategy, replica, VALUES)
    outputs = results(strategy, function, inputs)
    np.testing.assert_allclose(outputs, 2 * VALUES)
    np.testing.assert_allclose(copy_values(strategy, own), 2 * VALUES)


def test_merges_come_between_assignments():
    strategy = make(CORES)
    (own,) = variables(strategy, trainable=False)

    def replica(x):
        own.assign(x)
        total = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)
        before = own.read_value()
        own.assign(before + total)
        return before

    function, inputs = traced(strategy, replica, VALUES)
    for _ in range(2):
        np.testing.assert_allclose(results(strategy, function, inputs), VALUES)
        np.testing.assert_allclose(copy_values(strategy, own), VALUES + VALUES.sum(0))


def test_a_tape_around_a_step_records_reads():
    strategy = make(CORES)
    (own,) = variables(strategy)
    split = tf.function(lambda x: strategy.run(lambda part: own.assign(part * 1.0), args=(x,)))

    def replica(x):
        value = own * x
        own.assign_add(x)
        return tf.reduce_sum(value * value)

    @tf.function
    def step(x):
        parts = strategy.experimental_local_results(own)
        with tf.GradientTape() as tape:
            for part in parts:
                tape.watch(part)
            losses = strategy.run(replica, args=(x,))
            loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
        return loss, tape.gradient(loss, list(parts))

    _, inputs = traced(strategy, lambda x: x, VALUES)
    split(inputs)
    loss, gradients = step(inputs)
    np.testing.assert_allclose(loss, (VALUES**4).sum(), rtol=1e-6)
    np.testing.assert_allclose(gradients, 2 * VALUES**3, rtol=1e-6)
    np.testing.assert_allclose(copy_values(strategy, own), 2 * VALUES)


def own_functions(cores, count):
    strategy = make(cores)
    created = variables(strategy, count, trainable=False)

    def replica(x):
        for variable in created:
            variable.assign(variable * 0.5 + x)
        return x

    values = np.tile(VALUES, [cores // CORES, 1])
    function, _ = traced(strategy, replica, values)
    functions = [
        definition
        for definition in called(function)
        if "own_variables" in definition.signature.name
    ]
    segments = [
        definition
        for definition in called(function)
        if "replicas_segment" in definition.signature.name
    ]
    return len(functions), sum(len(definition.node_def) for definition in segments)


def test_variables_of_one_shape_share_their_functions():
    """One that reads and one that assigns; the segment does not grow with the replicas."""
    assert own_functions(CORES, 1)[0] == own_functions(CORES, 5)[0] == 2
    assert own_functions(CORES, 5)[1] == own_functions(2 * CORES, 5)[1]
