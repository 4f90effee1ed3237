"""A variable whose replicas are all given the same value stays stored once."""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual.harness import CORES
from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, versions

METHODS = {"assign": 3.0, "assign_add": 4.0, "assign_sub": -2.0}

pytestmark = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 replicas are traced one by one"
)


def context():
    return tf.distribute.get_replica_context()


def number():
    return tf.cast(context().replica_id_in_sync_group, tf.float32)


def make(strategy, value=1.0, **kwargs):
    with strategy.scope():
        return tf.Variable(value, **kwargs)


def parts(strategy, value):
    return [part.numpy().tolist() for part in strategy.experimental_local_results(value)]


def is_one(strategy, variable):
    return len({id(part) for part in distributed.components(variable)}) == 1


def run(strategy, fn, *args):
    return parts(strategy, tf.function(lambda *args: strategy.run(fn, args))(*args))


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_constant(strategy, method):
    variable = make(strategy)

    def fn():
        getattr(variable, method)(3.0)
        return variable + number()

    expected = METHODS[method]
    assert run(strategy, fn) == [expected + i for i in range(CORES)]
    assert parts(strategy, variable) == [expected] * CORES and is_one(strategy, variable)


@pytest.mark.parametrize("read", [True, False])
def test_the_result_of_an_assignment(strategy, read):
    variable = make(strategy)

    def fn():
        given = variable.assign_add(1.0, read_value=read)
        with tf.control_dependencies([given if read else given]):
            first = tf.identity(given) if read else variable.read_value()
        variable.assign_add(1.0)
        return tf.stack([first, variable.read_value()])

    assert run(strategy, fn) == [[2.0, 3.0]] * CORES


def test_a_returned_assignment_is_the_value_at_the_end(strategy):
    variable = make(strategy)

    def fn():
        given = variable.assign_add(1.0)
        variable.assign_add(1.0)
        return given

    assert run(strategy, fn) == [3.0] * CORES


def test_descent_by_hand(strategy):
    weights, momenta = make(strategy, [[1.0, 2.0]]), make(strategy, [[0.0, 0.0]])
    rate = make(strategy, 0.5, trainable=False)

    def fn(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weights * x * (number() + 1.0))
        gradient = context().all_reduce("sum", tape.gradient(loss, weights))
        momenta.assign(momenta * 0.5 + gradient)
        weights.assign_sub(rate * momenta)
        return loss

    step = tf.function(lambda x: strategy.run(fn, (x,)))
    expected, momentum = np.array([1.0, 2.0]), np.zeros(2)
    for _ in range(3):
        step(tf.ones([1, 2]))
        momentum = momentum * 0.5 + 1 + 2 + 3 + 4
        expected = expected - 0.5 * momentum
    assert parts(strategy, weights) == [[expected.tolist()]] * CORES
    assert is_one(strategy, weights) and is_one(strategy, momenta)


def test_rows(strategy):
    variable = make(strategy, [1.0, 2.0, 3.0])
    rows = tf.IndexedSlices(tf.constant([5.0]), tf.constant([1]), tf.constant([3]))

    def fn():
        variable.scatter_add(rows)
        return variable.read_value()

    assert run(strategy, fn) == [[1.0, 7.0, 3.0]] * CORES
    assert is_one(strategy, variable)


def _reduced_and_own():
    return context().all_reduce("sum", number()) + number()


@pytest.mark.parametrize(
    "value",
    [
        number,
        _reduced_and_own,
        lambda: tf.random.uniform([]),
        lambda: tf.cond(number() > 1.0, lambda: 1.0, lambda: 2.0),
    ],
    ids=["id", "reduced and own", "random", "branches"],
)
def test_values_that_may_differ_split_a_variable(strategy, value):
    variable = make(strategy)

    def fn():
        given = value()
        variable.assign(given)
        return tf.stack([given, variable.read_value()])

    for given, kept in run(strategy, fn):
        assert given == kept
    assert not is_one(strategy, variable)


def test_a_variable_outside_of_the_strategy_is_not_uniform(strategy):
    # Each replica adds to the one counter in turn, and so reads another number.
    variable, counter = make(strategy), tf.Variable(0.0)

    def fn():
        counter.assign_add(1.0)
        variable.assign(counter.read_value())
        return variable.read_value()

    assert run(strategy, fn) == [1.0, 2.0, 3.0, 4.0]


def test_a_value_computed_from_a_variable_that_is_split_later(strategy):
    first, second = make(strategy), make(strategy)

    def fn():
        first.assign(second * 2.0)
        second.assign(number())
        return first.read_value()

    step = tf.function(lambda: strategy.run(fn))
    assert parts(strategy, step()) == [2.0] * CORES
    assert parts(strategy, step()) == [0.0, 2.0, 4.0, 6.0]
    assert parts(strategy, first) == [0.0, 2.0, 4.0, 6.0]


def test_a_merge_that_takes_a_variable_that_is_split_later(strategy):
    first, second = make(strategy), make(strategy)

    def merge_fn(strategy):
        strategy.extended.update(first, lambda part, value: part.assign(value), args=(second,))

    def fn():
        context().merge_call(merge_fn)
        second.assign(number())
        return first.read_value()

    step = tf.function(lambda: strategy.run(fn))
    assert parts(strategy, step()) == [1.0] * CORES
    assert parts(strategy, step()) == [0.0, 1.0, 2.0, 3.0]


def test_splitting_a_variable_that_no_other_depends_on_does_not_retrace(strategy):
    # As the moving averages of a batch normalization, on which no other variable depends.
    average, count, traces = make(strategy), make(strategy), []

    def fn():
        traces.append(1)
        average.assign(average * 0.5 + number())
        count.assign_add(1.0)
        return tf.stack([average, count])

    step = tf.function(lambda: strategy.run(fn))
    assert parts(strategy, step()) == [[0.5 + i, 2.0] for i in range(CORES)]
    assert parts(strategy, step()) == [[0.25 + 1.5 * i, 3.0] for i in range(CORES)]
    assert len(traces) == 1 and is_one(strategy, count) and not is_one(strategy, average)


def test_a_variable_that_is_split_after_it_was_updated_once(strategy):
    variable = make(strategy)

    def fn():
        variable.assign_add(1.0)
        variable.assign_add(number())
        return variable.read_value()

    step = tf.function(lambda: strategy.run(fn))
    assert parts(strategy, step()) == [2.0, 3.0, 4.0, 5.0]
    assert parts(strategy, step()) == [3.0, 5.0, 7.0, 9.0]


def test_evaluation_may_come_before_training(strategy):
    variable = make(strategy)
    assert run(strategy, lambda: variable * 2.0) == [2.0] * CORES

    def train():
        variable.assign_add(context().all_reduce("mean", number()))

    tf.function(lambda: strategy.run(train))()
    assert run(strategy, lambda: variable * 2.0) == [5.0] * CORES


def test_splitting_a_variable_that_another_function_uses_is_refused(strategy):
    variable = make(strategy, name="kept")
    run(strategy, lambda: variable.assign(0.0))
    with pytest.raises(ContextError, match="'kept:0' is given a value per replica"):
        run(strategy, lambda: variable.assign(number()))


def test_branches_and_loops(strategy):
    # No merge can be in them, so there each replica has its copy.
    variable = make(strategy)

    def fn():
        for _ in tf.range(3):
            variable.assign_add(2.0)
        return variable.read_value()

    assert run(strategy, fn) == [7.0] * CORES
