"""`run` and `experimental_run_v2`: arguments, results, refusals."""

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.modes import SUM, covers, number, per_replica, replica
from tpudist.errors import CollectiveError, ContextError, EagerRunError, PerReplicaError
from tpudist.tfcompat import versions

covers_run = covers("run", eras=["v2_2"])
covers_run_v2 = covers("experimental_run_v2", eras=["v2_0"])


@covers_run
@covers_run_v2
@covers("experimental_local_results")
def test_a_function_runs_once_per_replica(surface, mode, strategy):
    found = mode.evaluate(lambda: surface.results(strategy, number))
    assert isinstance(found, (tuple, list)) and list(found) == [0, 1, 2, 3]


def test_replicas_get_their_components(surface, mode, strategy):
    def build():
        value = per_replica(surface, strategy, [1.0, 10.0, 100.0, 1000.0])
        return surface.results(
            strategy, lambda x, y, scale: (x + y) * scale, value, tf.constant(1.0), scale=value
        )

    assert list(mode.evaluate(build)) == [2.0, 110.0, 10100.0, 1001000.0]


def test_keyword_arguments_arrive(surface, mode, strategy):
    def build():
        return surface.results(
            strategy,
            lambda x, bias=None: x * 2.0 + bias,
            tf.constant(3.0),
            bias=number_of(surface, strategy),
        )

    assert list(mode.evaluate(build)) == [6.0, 7.0, 8.0, 9.0]


def number_of(surface, strategy):
    return per_replica(surface, strategy, [0.0, 1.0, 2.0, 3.0])


def test_nests_and_none_pass_in_and_out(surface, mode, strategy):
    def fn(nest, nothing):
        assert nothing is None and nest["nothing"] is None
        return {"a": nest["x"][0] + 1.0, "b": (nest["x"][1], None)}

    def build():
        value = number_of(surface, strategy)
        out = surface.run(strategy, fn, {"x": [value, tf.constant(5.0)], "nothing": None}, None)
        assert set(out) == {"a", "b"} and out["b"][1] is None
        local = strategy.experimental_local_results
        return local(out["a"]), local(out["b"][0])

    first, second = mode.evaluate(build)
    assert list(first) == [1.0, 2.0, 3.0, 4.0]
    assert list(second) == [5.0] * 4


@pytest.mark.skipif(not versions.HAS_FUNCTION, reason="1.13 has no tf.function")
def test_a_tf_function_that_replicas_share_is_each_ones_own(surface, mode, strategy):
    @tf.function
    def inner(x):
        context = tf.distribute.get_replica_context()
        return x + tf.cast(context.replica_id_in_sync_group, tf.float32)

    def build():
        return surface.results(strategy, lambda: inner(tf.constant(1.0)) + inner(tf.constant(2.0)))

    assert list(mode.evaluate(build)) == [3.0, 5.0, 7.0, 9.0]


def test_a_function_may_return_nothing(surface, mode, strategy):
    seen = []

    def build():
        seen.append(surface.run(strategy, lambda: None))
        return tf.constant(1.0)

    assert mode.evaluate(build) == 1.0
    assert seen[0] is None


@covers("experimental_local_results")
def test_a_single_value_is_its_own_local_result(mode, strategy):
    def build():
        found = strategy.experimental_local_results(tf.constant(7.0))
        assert isinstance(found, tuple)
        return found

    assert list(mode.evaluate(build)) == [7.0]


@covers("experimental_local_results")
def test_local_results_is_a_tuple_one_per_replica(surface, mode, strategy):
    lengths = []

    def build():
        found = surface.results(strategy, number)
        lengths.append((isinstance(found, tuple), len(found)))
        return found

    mode.evaluate(build)
    assert lengths[0] == (True, 4)


def test_local_results_of_a_variable_are_its_components(mode, strategy):
    with strategy.scope():
        variable = tf.Variable(2.0)
    found = mode.evaluate(
        lambda: [
            tf.convert_to_tensor(part) for part in strategy.experimental_local_results(variable)
        ]
    )
    assert found == [2.0] * 4


def test_all_reduce_of_one_tensor_counts_every_replica(surface, mode, strategy):
    def build():
        one = tf.constant(3.0)
        return surface.results(strategy, lambda: replica().all_reduce(SUM, one))

    assert list(mode.evaluate(build)) == [12.0] * 4


def test_a_training_step_updates_every_copy(surface, mode, strategy):
    with strategy.scope():
        weight = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)

    def step(x):
        with tf.GradientTape() as tape:
            loss = weight * weight * x
        gradient = replica().all_reduce(SUM, tape.gradient(loss, weight))
        update = weight.assign_sub(0.1 * gradient)
        with tf.control_dependencies([update]):
            return tf.identity(loss)

    def build():
        losses = surface.results(strategy, step, number_of(surface, strategy))
        with tf.control_dependencies(losses):
            return losses, weight.read_value()

    losses, after = mode.evaluate(build)
    assert list(losses) == [0.0, 1.0, 2.0, 3.0]
    np.testing.assert_allclose(after, 1.0 - 0.1 * 2.0 * 6.0, rtol=1e-6)


@pytest.mark.parametrize(("how", "expected"), [("MEAN", [1.5, 3.0]), ("SUM", [6.0, 12.0])])
def test_a_list_of_tensors_is_aggregated_as_one_tensor_is(surface, mode, strategy, how, expected):
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0], aggregation=getattr(tf.VariableAggregation, how))

    def fn():
        with tf.control_dependencies([variable.assign([number(), number() * 2.0])]):
            return tf.identity(variable)

    found = mode.evaluate(lambda: surface.results(strategy, fn))
    np.testing.assert_allclose(found, [expected] * 4)


def test_random_numbers_differ_between_replicas(surface, mode, strategy):
    found = mode.evaluate(lambda: surface.results(strategy, lambda: tf.random.uniform([])))
    assert len({float(each) for each in found}) == 4


def test_run_inside_a_replica_is_refused(surface, mode, strategy):
    def nested():
        return surface.run(strategy, number)

    with pytest.raises(ContextError, match="inside a replica function"):
        mode.evaluate(lambda: surface.results(strategy, nested))


@covers("reduce")
def test_reduce_inside_a_replica_is_refused(surface, mode, strategy):
    def nested():
        return strategy.reduce(SUM, number(), axis=None)

    with pytest.raises(ContextError, match="inside a replica function"):
        mode.evaluate(lambda: surface.results(strategy, nested))


def test_a_collective_names_the_leaf_that_differs(surface):
    """Shapes that a TF 1 graph knows for each replica."""
    with tf.Graph().as_default():

        def fn():
            rows = replica().replica_id_in_sync_group + 1
            return replica().all_reduce(
                SUM, {"fits": number(), "ragged": tf.ones([rows], name="ragged")}
            )

        with pytest.raises(CollectiveError, match="ragged"):
            surface.run(surface.strategy(), fn)


def test_a_collective_refuses_what_only_the_run_finds_to_differ(surface):
    """One row and three rows would be broadcast, a TPU refuses them."""
    strategy = surface.strategy()

    @tf.function
    def call(rows):
        def fn(rows):
            kept = tf.greater_equal(number(), tf.range(4.0))
            ragged = tf.boolean_mask(rows, kept)
            return replica().all_reduce(SUM, tf.identity(ragged, "ragged"))

        return surface.results(strategy, fn, rows)

    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)) as caught:
        call(tf.ones([4]))
    assert "the collective on" in str(caught.value)
    assert "ragged" in str(caught.value)


def test_a_single_row_is_not_broadcast_to_the_others(surface):
    strategy = surface.strategy("virtual:2")

    @tf.function
    def call(rows):
        def fn(rows):
            return replica().all_reduce(SUM, rows[: tf.cast(number(), tf.int32) * 2 + 1])

        return surface.results(strategy, fn, rows)

    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        call(tf.ones([4]))


def test_a_per_replica_value_of_the_wrong_length(surface, mode, strategy):
    other = surface.strategy("virtual:2")

    def build():
        return surface.results(strategy, lambda x: x, per_replica(surface, other, [1.0, 2.0]))

    with pytest.raises(PerReplicaError, match="2 components.*4 replicas"):
        mode.evaluate(build)


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_arrays_that_are_returned_are_those_of_each_replica(surface, mode, strategy, dtype, shape):
    def build():
        results = surface.run(strategy, lambda: (number(), [np.ones(shape, dtype)[...]]))[1][0]
        parts = list(map(tf.convert_to_tensor, strategy.experimental_local_results(results)))
        return parts if dtype == "bool" else parts + [strategy.reduce(SUM, results, axis=None)]

    found = mode.evaluate(build)
    expected = [np.ones(shape, dtype)] * 4 + [4 * np.ones(shape, dtype)]
    np.testing.assert_array_equal(found, expected[: len(found)])
    assert [part.dtype for part in found] == [np.dtype(dtype)] * len(found)
    assert len(found) == (4 if dtype == "bool" else 5)


def test_the_sum_of_a_number_that_replicas_return_says_what_to_return(surface, mode, strategy):
    def build():
        return strategy.reduce(SUM, surface.run(strategy, lambda: 2.0), axis=None)

    with pytest.raises(CollectiveError, match="tf.constant"):
        mode.evaluate(build)


def test_a_traced_function_runs_eagerly(surface):
    strategy = surface.strategy()
    traced = tf.function(lambda x: x + number())
    found = surface.results(strategy, traced, tf.constant(1.0))
    assert [part.numpy() for part in found] == [1.0, 2.0, 3.0, 4.0]


@covers_run_v2
def test_a_plain_function_in_eager_mode(surface, monkeypatch):
    strategy = surface.strategy()
    if surface.era == "v2_2":
        with pytest.raises(EagerRunError, match="TPUDIST_ALLOW_EAGER_RUN=1"):
            surface.run(strategy, number)
        with pytest.raises(NotImplementedError, match="pure eager"):
            surface.run(strategy, number)
        monkeypatch.setenv("TPUDIST_ALLOW_EAGER_RUN", "1")
    found = surface.results(strategy, number)
    assert [part.numpy() for part in found] == [0.0, 1.0, 2.0, 3.0]


@covers_run
@pytest.mark.skipif(
    not hasattr(tf.distribute, "RunOptions"), reason="tf.distribute.RunOptions came with 2.4"
)
def test_run_takes_options(v2_2, mode):
    strategy = v2_2.strategy()
    found = mode.evaluate(
        lambda: strategy.experimental_local_results(
            strategy.run(number, options=tf.distribute.RunOptions())
        )
    )
    assert list(found) == [0.0, 1.0, 2.0, 3.0]
