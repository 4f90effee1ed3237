"""Replicas meet in branches and loops that all of them take alike, as the cores of a TPU do.

Four replicas, whose numbers are 0 to 3, do a kind of meeting in a kind of flow; what comes out is
compared with the same steps in numpy.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.modes import SUM, V2_2, covers, number, replica, tf1
from tests.helpers import cores
from tpudist import machine
from tpudist.tfcompat import versions

pytestmark = [
    pytest.mark.parametrize("surface", [V2_2], indirect=True, ids=["v2_2"]),
    pytest.mark.skipif(
        cores.KIND != "", reason="TensorFlow's engine for devices refuses these meetings"
    ),
    pytest.mark.skipif(
        not versions.TRACES_AS_FIRST, reason="1.13 traces each replica alone, and refuses them"
    ),
]

IDS = np.arange(4.0)


class Reduced:
    """An all-reduce."""

    def __init__(self, strategy):
        del strategy

    def step(self, x):
        return replica().all_reduce(SUM, x) / 8 + number()

    def expected(self, x):
        return np.sum(x) / 8 + IDS

    def left(self):
        return tf.constant(0.0)

    expected_left = 0.0


class Merged(Reduced):
    """A merge_call whose function takes the replicas' values one by one."""

    def step(self, x):
        def merge_fn(strategy, value):
            first, *others = strategy.experimental_local_results(value)
            return (first + sum(others)) / 4

        return replica().merge_call(merge_fn, args=(x,)) * 0.5 + number()

    def expected(self, x):
        return np.mean(x) * 0.5 + IDS


class Added:
    """An assignment that adds up."""

    aggregation = tf.VariableAggregation.SUM

    def __init__(self, strategy):
        with strategy.scope():
            self.variable = tf.Variable(1.0, aggregation=self.aggregation)
        self.value = 1.0

    def step(self, x):
        with tf.control_dependencies([self.variable.assign_add(x)]):
            return x * 0.5 + self.variable.read_value() * 0.125

    def expected(self, x):
        self.value += np.sum(x)
        return x * 0.5 + self.value * 0.125

    def left(self):
        return self.variable.read_value()

    @property
    def expected_left(self):
        return self.value


class Averaged(Added):
    """An assignment of the mean."""

    aggregation = tf.VariableAggregation.MEAN

    def step(self, x):
        with tf.control_dependencies([self.variable.assign(x)]):
            return x * 0.5 + self.variable.read_value()

    def expected(self, x):
        self.value = np.mean(x)
        return x * 0.5 + self.value


class Trained(Added):
    """A step of an optimizer: the gradient of w * x is x on each replica."""

    def __init__(self, strategy):
        super().__init__(strategy)
        with strategy.scope():
            self.optimizer = tf1.train.GradientDescentOptimizer(0.1)

    def step(self, x):
        (gradient,) = tf.gradients(self.variable * x, [self.variable])
        gradient = replica().all_reduce(SUM, gradient)
        done = self.optimizer.apply_gradients([(gradient / 4, self.variable)])
        with tf.control_dependencies([done]):
            return x + self.variable.read_value()

    def expected(self, x):
        self.value -= 0.1 * np.sum(x)
        return x + self.value


KINDS = [Reduced, Merged, Added, Averaged, Trained]


def while_loop(step, x):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, step(x)), (0, x))[1], 3


def bounded_loop(step, x):
    looped = tf.while_loop(
        lambda i, x: i < 9, lambda i, x: (i + 1, step(x)), (0, x), maximum_iterations=2
    )
    return looped[1], 2


def taken(step, x):
    return tf.cond(tf.constant(2) > 1, lambda: step(x), lambda: x), 1


def not_taken(step, x):
    return tf.cond(tf.constant(2) < 1, lambda: step(x), lambda: x), 0


def agreed(step, x):
    """On a value that is known to be equal only when it runs."""
    return tf.cond(number() > -1.0, lambda: step(x), lambda: x), 1


def scanned(step, x):
    return tf.scan(lambda carried, unused: step(carried), tf.zeros([3]), x)[-1], 3


def mapped(step, x):
    return tf.map_fn(step, tf.stack([x]))[0], 1


def loop_in_a_branch(step, x):
    return tf.cond(tf.constant(2) > 1, lambda: while_loop(step, x)[0], lambda: x), 3


def branch_in_a_loop(step, x):
    def body(i, x):
        return i + 1, tf.cond(tf.equal(i, 1), lambda: x, lambda: step(x))

    return tf.while_loop(lambda i, x: i < 3, body, (0, x))[1], 2


def loop_in_a_loop(step, x):
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, while_loop(step, x)[0]), (0, x))[
        1
    ], 6


FLOWS = [
    *(while_loop, taken, bounded_loop, not_taken, agreed, scanned, mapped),
    *(loop_in_a_branch, branch_in_a_loop, loop_in_a_loop),
]


PAIRS = [(kind, flow) for kind in KINDS for flow in (while_loop, taken)]
PAIRS += [(Trained, flow) for flow in FLOWS[2:]]


@covers("run", eras=["v2_2"])
@pytest.mark.parametrize(("kind", "flow"), PAIRS, ids=lambda each: each.__name__)
def test_a_meeting_in_a_flow(surface, mode, strategy, kind, flow):
    case = kind(strategy)
    times = []

    def fn():
        after, rounds = flow(case.step, number())
        times.append(rounds)
        return after

    def build():
        found = surface.results(strategy, fn)
        with tf.control_dependencies(found):
            return found, case.left()

    found, left = mode.evaluate(build)
    expected = IDS
    for _ in range(times[-1]):
        expected = np.broadcast_to(case.expected(expected), [4])
    np.testing.assert_allclose(found, expected, 1e-5)
    np.testing.assert_allclose(left, case.expected_left, 1e-5)


def looped(body, start, rounds=3, **options):
    def once(i, x):
        return i + 1, body(i, x)

    return tf.while_loop(lambda i, x: i < rounds, once, (0, start), **options)[1]


def results(surface, mode, strategy, fn, *args):
    return mode.evaluate(lambda: surface.results(strategy, fn, *args))


@pytest.fixture(autouse=True)
def no_seed_is_left():
    yield
    tf1.set_random_seed(None)


@pytest.mark.parametrize("seed", [3, None])
def test_numbers_that_replicas_draw_in_a_loop_differ(surface, mode, strategy, seed):
    """Under a global seed they are the same in each run, too."""

    def draws():
        tf1.set_random_seed(seed)

        def body(i, x):
            drawn = tf.random.uniform([]) + 0 * replica().all_reduce(SUM, x[0])
            return tf.concat([x[1:], [drawn]], 0)

        return results(surface, mode, strategy, lambda: looped(body, tf.zeros([3])))

    first = np.array(draws())
    assert len(set(first.flatten())) == 12
    if seed is not None and mode.eager:
        np.testing.assert_array_equal(first, draws())


def test_a_loop_that_replicas_leave_at_different_times_is_an_error(surface, mode, strategy):
    def fn():
        def body(i, x):
            return i + 1, x + replica().all_reduce(SUM, 0.25)

        return tf.while_loop(lambda i, x: x < 2.5, body, (0, number()))[1]

    with pytest.raises(tf.errors.InvalidArgumentError, match="condition .* differs .* Instead: "):
        results(surface, mode, strategy, fn)


def test_branches_that_differ_are_an_error(surface, mode, strategy):
    def fn():
        return tf.cond(number() > 1.5, lambda: replica().all_reduce(SUM, 1.0), lambda: 0.0)

    with pytest.raises(tf.errors.InvalidArgumentError, match="condition .* differs .* Instead: "):
        results(surface, mode, strategy, fn)


def test_replicas_do_not_meet_in_a_condition(surface, mode, strategy):
    def fn():
        def condition(i, x):
            return replica().all_reduce(SUM, x) < 20.0

        return tf.while_loop(condition, lambda i, x: (i + 1, x + 1.0), (0, number()))[1]

    with pytest.raises(RuntimeError, match="Instead: "):
        results(surface, mode, strategy, fn)


def test_a_variable_of_each_replica_in_a_loop(surface, mode, strategy):
    with strategy.scope():
        own = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def body(i, x):
        with tf.control_dependencies([own.assign_add(number())]):
            return own * 1.0 + replica().all_reduce(SUM, x)

    found = results(surface, mode, strategy, lambda: looped(body, 1.0, 2))
    first = IDS + 4
    np.testing.assert_allclose(found, 2 * IDS + np.sum(first))
    assert mode.evaluate(lambda: own.read_value()) == 12.0


def test_a_merge_function_sees_what_is_outside_of_the_loop(surface, mode, strategy):
    def fn(batch):
        outside = tf.reduce_sum(batch)

        def body(i, x):
            merged = replica().merge_call(
                lambda strategy, value: strategy.reduce(SUM, value, axis=None) + outside, (x,)
            )
            return merged + tf.cast(i, tf.float32)

        return looped(body, 1.0, 2)

    np.testing.assert_allclose(results(surface, mode, strategy, fn, tf.ones([3])), [32.0] * 4)


def test_values_whose_shape_grows(surface, mode, strategy, monkeypatch):
    monkeypatch.setenv(machine.TPU_CHECK, "off")  # A TPU refuses it.

    def fn():
        def body(i, x):
            return i + 1, tf.concat([x, [replica().all_reduce(SUM, x[-1] + number())]], 0)

        return tf.while_loop(
            lambda i, x: i < 3,
            body,
            (0, tf.ones([1])),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        )[1]

    for found in results(surface, mode, strategy, fn):
        assert list(found) == [1.0, 10.0, 46.0, 190.0]


def test_a_switch(surface, mode, strategy):
    def fn(choice):
        total = number()
        return tf.switch_case(
            choice, [lambda: replica().all_reduce(SUM, total), lambda: total, lambda: total * 3]
        )

    for choice, expected in enumerate(([6.0] * 4, IDS, IDS * 3)):
        found = results(surface, mode, strategy, fn, tf.constant(choice))
        np.testing.assert_allclose(found, expected)


def test_the_gradient_of_a_loop(surface, mode, strategy):
    """x becomes x * sum(x) three times; the gradient of an all-reduce is a sum, too."""

    def fn():
        x = number() + 1.0
        total = looped(lambda i, y: y * replica().all_reduce(SUM, x), x, maximum_iterations=3)
        return tf.gradients(total, [x])[0]

    if not versions.FLOWS_KEEP_THEIR_GRAPHS:
        with pytest.raises(RuntimeError, match="the gradient of .* loop.*Instead: "):
            results(surface, mode, strategy, fn)
        return
    x = IDS + 1
    expected = 10.0**3 + np.sum(3 * x * 10.0**2)
    np.testing.assert_allclose(results(surface, mode, strategy, fn), [expected] * 4)


@pytest.mark.skipif(not versions.RUN_CONVERTS, reason="AutoGraph does not convert it there")
@pytest.mark.parametrize("mode", ["function"], indirect=True)
def test_what_autograph_makes(surface, mode, strategy):
    def fn():
        x = number()
        for i in tf.range(3):
            if i < 2:
                x = replica().all_reduce(SUM, x) / 4 + number()
        return x

    expected = IDS
    for _ in range(2):
        expected = np.mean(expected) + IDS
    np.testing.assert_allclose(results(surface, mode, strategy, fn), expected)


@pytest.mark.parametrize("mode", ["function"], indirect=True)
def test_an_optimizer_of_keras_makes_its_variables_in_a_loop(surface, mode, strategy):
    """Gradients add up over a loop; every second round, the optimizer applies them."""
    with strategy.scope():
        weight = tf.Variable(1.0)
        optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.5)

    def fn():
        def body(i, total):
            total += weight * (number() + 1)

            def apply():
                optimizer.apply_gradients([(total, weight)])
                return tf.zeros([])

            return i + 1, tf.cond(tf.equal(i % 2, 1), apply, lambda: total)

        return tf.while_loop(lambda i, total: i < 4, body, (0, tf.zeros([])))[1]

    assert list(results(surface, mode, strategy, fn)) == [0.0] * 4
    value = velocity = 0.0
    value = 1.0
    for _ in range(2):
        velocity = 0.5 * velocity - 0.1 * 2 * value * np.sum(IDS + 1)
        value += velocity
    np.testing.assert_allclose(weight.numpy(), value, 1e-5)


def test_numbers_that_replicas_draw_in_the_other_branch_differ(surface, mode, strategy):
    """Where the branch that is not taken has the meeting."""

    def draws():
        tf1.set_random_seed(3)

        def fn():
            return tf.cond(
                tf.constant(2) < 1,
                lambda: replica().all_reduce(SUM, 1.0),
                lambda: tf.random.uniform([]),
            )

        return results(surface, mode, strategy, fn)

    assert len(set(draws())) == 4


def test_values_of_unknown_rank(surface, mode, strategy):
    def fn():
        start = tf1.placeholder_with_default(tf.ones([2]), None) * number()
        return looped(lambda i, x: replica().all_reduce(SUM, x) + number(), start, 2)

    for i, found in enumerate(results(surface, mode, strategy, fn)):
        assert list(found) == [30.0 + i] * 2
