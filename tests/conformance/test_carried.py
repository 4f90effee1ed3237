"""What the class of an era's releases had beyond its page."""

import pytest
import tensorflow as tf

from tests.conformance.modes import V2_2, covers, number, tf1


def ten(steps=2):
    return tf.data.Dataset.range(4 * steps).batch(4, drop_remainder=True)


@covers("experimental_run_v2", eras=["v2_2"])
@pytest.mark.parametrize("surface", [V2_2], indirect=True, ids=["v2_2"])
def test_the_older_name_of_run(mode, strategy):
    """A program in transition has both names, or asks which one there is."""

    def build():
        assert hasattr(strategy, "run") and hasattr(strategy, "experimental_run_v2")
        return [
            strategy.experimental_local_results(run(lambda x: number() + x, args=(1.0,)))
            for run in (strategy.run, strategy.experimental_run_v2)
        ]

    for found in mode.evaluate(build):
        assert list(found) == [1.0, 2.0, 3.0, 4.0]


@covers("unwrap")
def test_unwrap(surface, mode, strategy):
    found = mode.evaluate(lambda: strategy.unwrap(surface.run(strategy, number)))
    assert list(found) == [0.0, 1.0, 2.0, 3.0]


@covers("group")
def test_group(surface, mode, strategy):
    with strategy.scope():
        variable = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    def build():
        done = surface.run(strategy, lambda: variable.assign_add(number()))
        with tf.control_dependencies([each for each in [strategy.group(done)] if each is not None]):
            return variable.read_value()

    assert mode.evaluate(build) == 6.0


@covers("experimental_run", "make_dataset_iterator")
@pytest.mark.parametrize("mode", ["graph"], indirect=True)
def test_a_run_on_an_iterator(surface, mode, strategy):
    iterator = strategy.make_dataset_iterator(ten())
    started = iterator.initialize()
    found = strategy.experimental_run(lambda x: tf.reduce_sum(x), iterator)
    results = strategy.experimental_local_results(found)
    mode.fetch(started)
    assert [list(mode.fetch(results)) for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]


@covers("make_input_fn_iterator")
@pytest.mark.parametrize("mode", ["graph"], indirect=True)
def test_an_iterator_of_a_function(mode, strategy):
    iterator = strategy.make_input_fn_iterator(
        lambda context: tf.data.Dataset.range(8).batch(context.get_per_replica_batch_size(4)),
        replication_mode=tf.distribute.InputReplicationMode.PER_WORKER,
    )
    started = iterator.initialize()
    results = strategy.experimental_local_results(
        strategy.experimental_run(lambda x: tf.reduce_sum(x), iterator)
    )
    mode.fetch(started)
    assert list(mode.fetch(results)) == [0, 1, 2, 3]


@covers("colocate_vars_with")
def test_a_variable_beside_another(mode, strategy):
    with strategy.scope():
        first = tf.Variable(1.0)
        with strategy.colocate_vars_with(first):
            second = tf.Variable(2.0)
    assert mode.evaluate(lambda: first.read_value() + second.read_value()) == 3.0


@covers("configure", "update_config_proto")
def test_a_session_is_configured(strategy):
    given = tf1.ConfigProto(allow_soft_placement=True)
    made = strategy.update_config_proto(given)
    assert made is not given and made.allow_soft_placement
    strategy.configure(given)
    with tf.Graph().as_default(), tf1.Session(config=given) as session:
        assert session.run(tf.constant(1.0)) == 1.0


@pytest.mark.skipif(not hasattr(tf.distribute, "InputOptions"), reason="since 2.4")
@covers("experimental_distribute_dataset", "experimental_distribute_datasets_from_function")
def test_datasets_take_the_options_of_later_releases(strategy, mode):
    """As today's TensorFlow: programs in transition pass them already."""
    options = tf.distribute.InputOptions()
    for made in (
        strategy.experimental_distribute_dataset(ten(), options),
        strategy.experimental_distribute_datasets_from_function(
            lambda context: tf.data.Dataset.range(8).batch(1), options=options
        ),
    ):
        assert [list(parts) for parts in mode.batches(strategy, made, 1)] == [[[0], [1], [2], [3]]]
