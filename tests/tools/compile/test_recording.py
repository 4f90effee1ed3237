"""What a program runs is noted; where nothing is to run, it gets zeros of the same form."""

import pytest
import tensorflow as tf

from tests.generations import second_generation
from tests.tools.compile import harness
from tpudist.contrib import tensorflow as contrib_tf
from tpudist.tfcompat import distributed
from tpudist.tools.compile.lowering import recording
from tpudist.virtual.replicas import replicate


def only_traced(noted):
    """A `recording.Recorder` under which no function runs."""
    return recording.Recorder(noted=lambda places, function: noted.append((places, function)))


@second_generation
def test_nothing_runs_and_results_are_zeros_of_the_same_form():
    strategy, noted = harness.strategy(), []
    with strategy.scope():
        weight = tf.Variable(tf.ones([3]), aggregation=tf.VariableAggregation.MEAN)

    @tf.function
    def step(x):
        def replica(x):
            weight.assign_add(x[0])
            pair = (tf.cast(x, tf.bfloat16), strategy.extended._num_replicas_in_sync)
            return {"pair": pair, "none": None, "sum": tf.reduce_sum(x * weight)}

        return strategy.run(replica, args=(x,))

    def forms(results):
        pair, loss = results["pair"], results["sum"]
        return [
            [(part.dtype, part.shape) for part in strategy.experimental_local_results(leaf)]
            for leaf in (pair[0], loss)
        ] + [pair[1], results["none"]]

    with only_traced(noted) as recorder:
        zeros = step(tf.ones([2, 3]))
    assert weight.numpy().tolist() == [1.0, 1.0, 1.0]
    assert {float(each) for each in strategy.experimental_local_results(zeros["sum"])} == {0.0}
    files = [file for file, _ in noted[0][0]]
    assert __file__ in files
    assert len(recorder.programs(lambda step: step)) == 1
    assert not replicate.substitutes and not replicate.observers
    again = tf.function(step.python_function)(tf.ones([2, 3]))
    assert weight.numpy().tolist() == [2.0, 2.0, 2.0]
    assert forms(again) == forms(zeros)


def test_a_graph_initialises_its_variables_and_trains_none():
    noted = []
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

        with distribution.scope(), only_traced(noted):
            losses, _ = distribution.call_for_each_tower(tower, tf.ones([3]))
            assert len(tf.compat.v1.global_variables()) == 1
            with tf.compat.v1.Session() as session:
                session.run(tf.compat.v1.global_variables_initializer())
                before = session.run(tf.compat.v1.global_variables())
                values = session.run(list(distributed.components(losses)))
                after = session.run(tf.compat.v1.global_variables())
    assert [value.tolist() for value in values] == [[0.0] * 3] * 4
    assert (before[0] == after[0]).all() and len(noted) == 1


@second_generation
def test_a_function_that_cannot_be_traced_is_noted_and_raises():
    strategy = harness.strategy()

    def replica(x):
        raise KeyError("weights")

    with recording.Recorder(noted=lambda *unused: None) as recorder:
        with pytest.raises(Exception, match="weights"):
            tf.function(lambda x: strategy.run(replica, args=(x,)))(tf.ones([2]))
    (found,) = recorder.programs(lambda step: step)
    assert "weights" in str(found.error) and found.program is None
