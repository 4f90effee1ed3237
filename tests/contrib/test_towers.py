"""call_for_each_tower, the tower context and merge_call."""

import pytest
import tensorflow as tf

from tests.contrib.harness import close, strategy_of, tf1
from tpudist.contrib.distribute import (
    TowerContext,
    VariableAggregation,
    get_cross_tower_context,
    get_distribution_strategy,
    get_tower_context,
    has_distribution_strategy,
)
from tpudist.errors import ContextError


def page_merge_fn(distribution, three_plus_tower_id):
    return sum(distribution.unwrap(three_plus_tower_id))


def page_fn(three):
    tower_ctx = get_tower_context()
    v = three + tower_ctx.tower_id
    s = tower_ctx.merge_call(page_merge_fn, v)
    return s + v


@pytest.mark.parametrize(
    ("towers", "expected"), [(8, [55, 56, 57, 58, 59, 60, 61, 62]), (2, [10, 11]), (1, [6])]
)
def test_example_of_the_page(mode, towers, expected):
    distribution = strategy_of(towers)
    with distribution.scope():
        merged = distribution.call_for_each_tower(page_fn, 3)
        results = distribution.unwrap(merged)
    assert isinstance(results, list)
    if isinstance(results[0], int):
        assert results == expected
    else:
        assert mode.run(results) == expected


def test_example_of_the_page_in_a_function(eager):
    distribution = strategy_of(8)

    @tf.function
    def run():
        with distribution.scope():
            return distribution.unwrap(distribution.call_for_each_tower(page_fn, 3))

    assert eager.run(run()) == [55, 56, 57, 58, 59, 60, 61, 62]


def test_each_tower_gets_its_part_of_the_arguments(mode):
    distribution = strategy_of(4)
    with distribution.scope():
        index = distribution.worker_device_index
        result = distribution.call_for_each_tower(
            lambda x, i, scale: x + scale * tf.cast(i, tf.float32),
            tf.constant(100.0),
            index,
            scale=10.0,
            run_concurrently=False,
        )
        close(mode.run(distribution.unwrap(result)), [100, 110, 120, 130])


def test_structures_come_back(mode):
    distribution = strategy_of(2)

    def tower(i):
        x = tf.cast(i, tf.float32)
        return {"a": x, "b": (x + 1, [x + 2])}

    with distribution.scope():
        result = distribution.call_for_each_tower(tower, distribution.worker_device_index)
        found = mode.run(distribution.unwrap(result))
    assert found == [{"a": 0.0, "b": (1.0, [2.0])}, {"a": 1.0, "b": (2.0, [3.0])}]


def test_tower_context_in_a_graph(graph):
    distribution, seen = strategy_of(2), []

    def tower():
        context = get_tower_context()
        assert isinstance(context, TowerContext)
        assert context == get_tower_context()
        assert hash(context) == hash(get_tower_context())
        assert context.distribution_strategy is distribution
        assert get_cross_tower_context() is None
        seen.append((context.tower_id, context.num_towers, context.is_single_tower, context.device))
        return tf.constant(0)

    with distribution.scope():
        distribution.call_for_each_tower(tower)
    devices = distribution.worker_devices
    assert sorted(seen) == [(0, 2, False, devices[0]), (1, 2, False, devices[1])]
    assert all(type(number) is int for number, _, _, _ in seen)


def test_tower_context_in_eager_mode(eager):
    distribution = strategy_of(2)

    def tower():
        context = get_tower_context()
        assert (context.num_towers, context.is_single_tower) == (2, False)
        assert context.device in [""] + distribution.worker_devices
        assert context.distribution_strategy is distribution
        return tf.identity(context.tower_id)

    with distribution.scope():
        result = distribution.call_for_each_tower(tower)
        assert eager.run(distribution.unwrap(result)) == [0, 1]


def test_a_training_op_comes_back(mode):
    distribution = strategy_of(4)
    with distribution.scope():
        w = tf1.get_variable("w", [], initializer=tf1.ones_initializer())
        optimizer = tf1.train.GradientDescentOptimizer(0.1)

        def tower():
            def loss():
                return tf.reduce_mean(w * 3.0)

            done = optimizer.minimize(loss if mode.eager else loss(), var_list=[w])
            return done, tf.constant(2.0)

        done, two = distribution.call_for_each_tower(tower)
        op = distribution.group(done)
        assert (op is None) == mode.eager
        if not mode.eager:
            mode.run(op)
        close(mode.run(distribution.read_var(w)), 0.7)
        assert mode.run(distribution.unwrap(two)) == [2.0] * 4


def test_ops_of_each_tower_come_back(mode):
    distribution = strategy_of(4)
    with distribution.scope():
        v = tf1.get_variable(
            "v",
            [],
            initializer=tf1.zeros_initializer(),
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=VariableAggregation.SUM,
        )

        def tower(i):
            with tf.control_dependencies([v.assign_add(tf.cast(i, tf.float32))]):
                return tf.no_op()

        op = distribution.group(
            distribution.call_for_each_tower(tower, distribution.worker_device_index)
        )
        if not mode.eager:
            mode.run(op)
        assert mode.run(distribution.read_var(v)) == 6.0


def test_single_tower(mode):
    distribution = strategy_of(1)
    with distribution.scope():
        assert distribution.worker_device_index == 0
        result = distribution.call_for_each_tower(
            lambda: tf.constant(7.0) * get_tower_context().num_towers
        )
        assert mode.run(distribution.unwrap(result)) == [7.0]
        assert distribution.is_single_tower


def test_contexts_of_different_towers_differ(graph):
    contexts = []
    distribution = strategy_of(2)
    with distribution.scope():
        distribution.call_for_each_tower(lambda: contexts.append(get_tower_context()))
    assert contexts[0] != contexts[1]
    assert contexts[0] != "another thing"


def test_contexts_outside_of_towers(mode):
    distribution = strategy_of(2)
    assert not has_distribution_strategy()
    assert get_tower_context().num_towers == 1
    assert get_tower_context().is_single_tower
    assert get_tower_context().tower_id == 0
    assert isinstance(get_tower_context().device, str)
    assert get_cross_tower_context() is None
    with distribution.scope():
        assert has_distribution_strategy()
        assert get_distribution_strategy() is distribution
        assert get_cross_tower_context() is distribution
        assert get_tower_context() is None


def test_merge_call_passes_keywords_and_unwraps(mode):
    distribution = strategy_of(3)

    def merge_fn(merged_distribution, x, scale):
        assert merged_distribution is distribution
        assert get_cross_tower_context() is distribution
        values = merged_distribution.unwrap(x)
        assert len(values) == 3
        return x, scale * values[-1]

    def tower(i):
        own, last = get_tower_context().merge_call(
            merge_fn, tf.cast(i, tf.float32) + 1.0, scale=10.0
        )
        return own + last

    with distribution.scope():
        result = distribution.call_for_each_tower(tower, distribution.worker_device_index)
        close(mode.run(distribution.unwrap(result)), [31.0, 32.0, 33.0])


def test_merge_call_without_a_strategy(mode):
    result = get_tower_context().merge_call(
        lambda distribution, x: x + distribution.num_replicas_in_sync, tf.constant(4)
    )
    assert mode.run(result) == 5


def test_old_context_is_refused(graph):
    contexts = []
    distribution = strategy_of(2)
    with distribution.scope():
        distribution.call_for_each_tower(lambda: contexts.append(get_tower_context()))
        with pytest.raises(ContextError, match="Need to be inside `call_for_each_tower"):
            contexts[0].tower_id
        with pytest.raises(ContextError, match="Instead: .*get_tower_context"):
            contexts[0].merge_call(lambda distribution: None)


def test_mirrored_variable_is_updated_once_from_towers(mode):
    distribution = strategy_of(4)
    with distribution.scope():
        total = tf1.get_variable(
            "total", [], initializer=tf1.zeros_initializer(), aggregation=VariableAggregation.SUM
        )
        mean = tf1.get_variable(
            "mean", [], initializer=tf1.zeros_initializer(), aggregation=VariableAggregation.MEAN
        )
        first = tf1.get_variable(
            "first",
            [],
            initializer=tf1.ones_initializer(),
            dtype=tf.float32,
            aggregation=VariableAggregation.ONLY_FIRST_TOWER,
        )

        def tower(i):
            x = tf.cast(i, tf.float32) + 2.0
            return [total.assign_add(x), mean.assign_add(x), first.assign_add(x)]

        done = distribution.call_for_each_tower(tower, distribution.worker_device_index)
        mode.run([distribution.unwrap(each) for each in done])
        read = [distribution.read_var(v) for v in (total, mean, first)]
    assert mode.run(read) == [14.0, 3.5, 3.0]


def test_layers_of_a_second_call_have_names_of_their_own():
    # On a TPU one thread traces both calls, and counts on.
    distribution = strategy_of(2)

    def tower(x):
        with tf1.variable_scope(None, default_name="layer"):
            return tf1.get_variable("weight", [], use_resource=True) * x

    with tf.Graph().as_default(), distribution.scope():
        for _ in range(2):
            distribution.call_for_each_tower(tower, tf.constant(1.0))
        with tf1.variable_scope(None, default_name="layer"):
            tf1.get_variable("weight", [], use_resource=True)
        names = [variable.name for variable in tf1.global_variables()]
    assert names == ["layer/weight:0", "layer_1/weight:0", "layer_2/weight:0"]


def test_the_context_is_one_object_in_one_tower(mode):
    seen = []

    def tower():
        context = get_tower_context()
        seen.append(context)
        context.merge_call(lambda distribution: None)
        assert get_tower_context() is context
        return tf.constant(1.0)

    distribution = strategy_of(2)
    with distribution.scope():
        for _ in range(2):
            mode.run(distribution.unwrap(distribution.call_for_each_tower(tower)))
    assert len(seen) == len({id(context) for context in seen})
    assert get_tower_context() is get_tower_context()
