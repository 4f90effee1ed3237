"""Replica functions are recorded; if they are traced only, they return zeros."""

import pytest
import tensorflow as tf

from tests.helpers.generations import second_generation
from tests.tools.compile import harness
from tpudist.contrib import tensorflow as contrib_tf
from tpudist.tfcompat import distributed
from tpudist.tools.compile.lowering import recording
from tpudist.virtual.replicas import replicate


def only_traced(calls):
    """Returns a `recording.Recorder` that traces functions and does not run them."""
    return recording.Recorder(traced=lambda stack, function: calls.append((stack, function)))


@second_generation
def test_a_traced_function_returns_zeros_of_its_dtypes_and_shapes():
    strategy, calls = harness.strategy(), []
    with strategy.scope():
        weight = tf.Variable(tf.ones([3]), aggregation=tf.VariableAggregation.MEAN)

    @tf.function
    def step(x):
        def replica(x):
            weight.assign_add(x[0])
            pair = (tf.cast(x, tf.bfloat16), strategy.extended._num_replicas_in_sync)
            return {"pair": pair, "none": None, "sum": tf.reduce_sum(x * weight)}

        return strategy.run(replica, args=(x,))

    def types_of(results):
        pair, loss = results["pair"], results["sum"]
        return [
            [(part.dtype, part.shape) for part in strategy.experimental_local_results(leaf)]
            for leaf in (pair[0], loss)
        ] + [pair[1], results["none"]]

    with only_traced(calls) as recorder:
        zeros = step(tf.ones([2, 3]))
    assert weight.numpy().tolist() == [1.0, 1.0, 1.0]
    assert {float(each) for each in strategy.experimental_local_results(zeros["sum"])} == {0.0}
    files = [file for file, _ in calls[0][0]]
    assert __file__ in files
    assert len(recorder.programs(lambda step: step)) == 1
    assert not replicate.substitutes and not replicate.observers
    again = tf.function(step.python_function)(tf.ones([2, 3]))
    assert weight.numpy().tolist() == [2.0, 2.0, 2.0]
    assert types_of(again) == types_of(zeros)


def test_a_graph_initializes_its_variables_but_trains_nothing():
    calls = []
    with tf.Graph().as_default():
        resolver = contrib_tf.contrib.cluster_resolver.TPUClusterResolver("virtual:4")
        distribution = contrib_tf.contrib.distribute.TPUStrategy(resolver)

        def tower(x):
            weight = tf.compat.v1.get_variable(
                "weight", [3], aggregation=tf.VariableAggregation.MEAN
            )
            train = weight.assign(weight + x)
            with tf.control_dependencies([train]):
                return tf.identity(weight), train.op if hasattr(train, "op") else train

        with distribution.scope(), only_traced(calls):
            losses, _ = distribution.call_for_each_tower(tower, tf.ones([3]))
            assert len(tf.compat.v1.global_variables()) == 1
            with tf.compat.v1.Session() as session:
                session.run(tf.compat.v1.global_variables_initializer())
                before = session.run(tf.compat.v1.global_variables())
                values = session.run(list(distributed.components(losses)))
                after = session.run(tf.compat.v1.global_variables())
    assert [value.tolist() for value in values] == [[0.0] * 3] * 4
    assert (before[0] == after[0]).all() and len(calls) == 1


@second_generation
def test_a_function_that_cannot_be_traced_is_recorded_and_raises():
    strategy = harness.strategy()

    def replica(x):
        raise KeyError("weights")

    with recording.Recorder(traced=lambda *unused: None) as recorder:
        with pytest.raises(Exception, match="weights"):
            tf.function(lambda x: strategy.run(replica, args=(x,)))(tf.ones([2]))
    (found,) = recorder.programs(lambda step: step)
    assert "weights" in str(found.error) and found.program is None
