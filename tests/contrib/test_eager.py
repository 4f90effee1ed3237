"""Towers in eager mode: one after the other, op by op, as on MirroredStrategy of 1.12."""

import pytest
import tensorflow as tf

from tests.contrib import harness
from tests.contrib.harness import close, strategy_of, tf1
from tpudist.contrib.distribute import VariableAggregation, get_tower_context
from tpudist.tfcompat import versions

SUM = VariableAggregation.SUM


@pytest.fixture(autouse=True)
def eager():
    with harness.enter("eager") as mode:
        yield mode


def values(distribution, value):
    return [getattr(part, "numpy", lambda p=part: p)() for part in distribution.unwrap(value)]


def test_a_tower_knows_its_number_as_an_integer():
    distribution, seen = strategy_of(3), []

    def fn(index, offset):
        context = get_tower_context()
        assert index == context.tower_id and context.device
        seen.append(["first", "second", "third"][context.tower_id])
        return offset + index

    with distribution.scope():
        found = distribution.call_for_each_tower(fn, distribution.worker_device_index, offset=5)
    assert seen == ["first", "second", "third"]
    assert values(distribution, found) == [5, 6, 7]


def test_towers_may_do_different_things():
    distribution = strategy_of(2)

    def fn():
        if get_tower_context().tower_id == 0:
            return tf.constant(1.0)
        return tf.constant(2.0) * 10.0

    with distribution.scope():
        assert values(distribution, distribution.call_for_each_tower(fn)) == [1.0, 20.0]


def test_values_are_there_in_the_tower():
    distribution, seen = strategy_of(2), []
    with distribution.scope():
        one = distribution.broadcast(tf.constant(3.0))
        distribution.call_for_each_tower(lambda x: seen.append(float(x)), one)
    assert seen == [3.0, 3.0]


def test_variables_are_created_in_the_towers_each_time():
    distribution = strategy_of(2)

    def model_fn():
        v = tf.Variable(1.0, name="foo")
        get_tower_context().merge_call(lambda distribution: None)
        return v

    with distribution.scope():
        first, second = (
            distribution.call_for_each_tower(model_fn, run_concurrently=False) for _ in range(2)
        )
        distribution.group(distribution.update(first, lambda v: v.assign(7.0)))
        found = [float(distribution.read_var(v)) for v in (first, second)]
    assert found == [7.0, 1.0]


def test_gradients_and_variables_leave_the_towers():
    # The loop of TensorFlow 1.12's strategy_test_lib._test_minimize_loss_eager.
    distribution = strategy_of(2)
    with distribution.scope():
        kernel = tf.Variable(2.0)

        def grad_fn(x):
            with tf.GradientTape() as tape:
                loss = (kernel * x - 1.0) ** 2
            return [(tape.gradient(loss, kernel), kernel)]

        for _ in range(3):
            pairs = distribution.call_for_each_tower(
                grad_fn, distribution.broadcast(tf.constant(1.0))
            )
            for gradient, variable in pairs:
                total = distribution.reduce(SUM, gradient, destinations=variable)
                distribution.update(
                    variable, lambda v, g: v.assign_sub(0.1 * g), total, grouped=False
                )
        found = float(distribution.read_var(kernel))
    alone = 2.0
    for _ in range(3):
        alone -= 0.1 * 2 * 2 * (alone - 1.0)
    close(found, alone)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf1.train.GradientDescentOptimizer(0.1),
        lambda: tf1.train.AdagradOptimizer(0.1),
        lambda: tf1.train.AdamOptimizer(0.1),
        lambda: tf1.train.MomentumOptimizer(0.1, 0.5),
    ],
    ids=["descent", "adagrad", "adam", "momentum"],
)
def test_an_optimizer_whose_variables_are_made_in_the_towers(make):
    # An optimizer of 1.13 divides a mean loss by the number of towers, which
    # contrib's surface keeps: the sum over two towers is then one tower's.
    distribution = strategy_of(2)

    def train(optimizer, weights, x):
        if not weights:
            weights.append(tf.Variable([[0.5]], name="kernel"))

        def loss_fn():
            y = tf.reshape(tf.matmul(x, weights[0]), []) - 1.0
            return y * y

        return optimizer.minimize(loss_fn)

    with distribution.scope():
        optimizer, weights = make(), [[], []]
        for _ in range(4):
            x = distribution.broadcast(tf.constant([[1.0]]))
            distribution.group(
                distribution.call_for_each_tower(
                    lambda x: train(optimizer, weights[get_tower_context().tower_id], x), x
                )
            )
        found = float(distribution.read_var(weights[0][0])[0][0])
    optimizer, weights = make(), []
    for _ in range(4):
        train(optimizer, weights, tf.constant([[1.0]]))
    close(found, float(weights[0][0][0]))


def test_merge_call_meets_all_towers():
    distribution = strategy_of(3)

    def merge_fn(distribution, x):
        return distribution.reduce(SUM, x, destinations="/device:CPU:0")

    def fn(index):
        context = get_tower_context()
        return context.merge_call(merge_fn, tf.constant(1.0 + index)) + float(context.tower_id)

    with distribution.scope():
        found = distribution.call_for_each_tower(fn, distribution.worker_device_index)
        assert values(distribution, found) == [6.0, 7.0, 8.0]


def test_a_function_of_tensorflow_is_traced_for_all_towers():
    if not versions.HAS_FUNCTION:
        pytest.skip("tf.function came with 1.14")
    distribution = strategy_of(2)
    fn = tf.function(lambda index: index * 2)
    with distribution.scope():
        found = distribution.call_for_each_tower(fn, distribution.worker_device_index)
        assert values(distribution, found) == [0, 2]


@pytest.mark.skipif(not versions.LOWERS_TO_HLO, reason="a newer TensorFlow compiles its towers")
def test_towers_are_recorded_for_the_compiler():
    from tpudist.tools.compile.lowering import recording

    distribution = strategy_of(2)
    with distribution.scope(), recording.Recorder() as recorder:
        kernel = tf.Variable([[1.0, 2.0]])

        def fn(x, number):
            loss = tf.reduce_sum(tf.matmul(x, kernel)) + float(get_tower_context().tower_id == 0)
            return [(loss, kernel)], number

        x = distribution.broadcast(tf.ones([3, 1]))
        distribution.call_for_each_tower(fn, x, distribution.worker_device_index)
    (found,) = recorder.programs()
    assert found.error is None and found.name.startswith("fn ")
    assert b"MatMul" in found.program.hlo
