"""What replicas give and get: one replica, Python numbers, assignments, rows of variables."""

import numpy as np
import pytest
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import distributed, versions
from tpudist.v2_2.strategy import TPUStrategy

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN
NONE = tf.VariableAggregation.NONE
FIRST = tf.VariableAggregation.ONLY_FIRST_REPLICA


def make(cores=2):
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % cores))


def replica_id():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def numbers(strategy, value):
    return [part.numpy().tolist() for part in strategy.experimental_local_results(value)]


def step_of(strategy, fn):
    return tf.function(lambda: strategy.run(fn))


@pytest.mark.skipif(versions.BY_DEVICE, reason="until 2.1 mirrored variables have no scatter_max")
@pytest.mark.parametrize("aggregation", [FIRST, NONE], ids=["first", "none"])
@pytest.mark.parametrize(
    ("method", "first", "second"),
    [
        ("scatter_max", [2.0, 5.0, 0.0], [0.0, 5.0, 4.0]),
        ("scatter_min", [0.0, 3.0, 0.0], [0.0, 3.0, 0.0]),
        ("scatter_update", [2.0, 3.0, 0.0], [0.0, 3.0, 4.0]),
    ],
)
def test_rows_of_a_variable(method, first, second, aggregation):
    if aggregation == NONE and not versions.ASSIGN_WITHOUT_AGGREGATION:
        pytest.skip("before 2.3 that is a ValueError on TPUs and GPUs alike")
    strategy = make()
    with strategy.scope():
        variable = tf.Variable([0.0, 5.0, 0.0], aggregation=aggregation)

    def fn():
        i = tf.convert_to_tensor(replica_id())
        rows = tf.cast(tf.stack([i + 2, i + 3]), tf.float32)
        getattr(variable, method)(
            tf.IndexedSlices(rows, tf.stack([i, i + 1]), dense_shape=tf.constant([3]))
        )
        return variable.read_value()

    expected = [first, first if aggregation == FIRST else second]
    assert numbers(strategy, step_of(strategy, fn)()) == expected


@pytest.mark.skipif(versions.BY_DEVICE, reason="until 2.1 mirrored variables have no scatter_add")
@pytest.mark.parametrize("shape", [(3,), [3], None], ids=str)
def test_rows_may_have_a_dense_shape_that_is_no_tensor(shape):
    strategy = make()
    with strategy.scope():
        variable = tf.Variable([0.0, 0.0, 0.0], aggregation=tf.VariableAggregation.SUM)

    def fn():
        i = tf.convert_to_tensor(replica_id())
        rows = tf.cast(tf.stack([i, i + 1]), tf.float32)
        slices = tf.IndexedSlices(rows, tf.stack([i, i + 1]), dense_shape=shape)
        variable.scatter_add(slices)
        return variable.read_value()

    assert numbers(strategy, step_of(strategy, fn)()) == [[0.0, 2.0, 2.0]] * 2


def test_a_single_replica_gives_tensors():
    strategy = make(1)
    with strategy.scope():
        variable = tf.Variable(1.0)

    @tf.function
    def twice():
        first = strategy.run(lambda: variable + 1.0)
        return first, first + strategy.run(lambda: {"a": variable + 2.0})["a"]

    first, both = twice()
    assert float(first) == 2.0 and float(both) == 5.0
    assert strategy.experimental_local_results(first)[0] is first


@pytest.mark.parametrize(("operation", "expected"), [(SUM, 6), (MEAN, 1.5)])
@pytest.mark.parametrize("what", ["ids", "floats"])
def test_python_numbers_are_reduced(what, operation, expected):
    strategy = make(4)
    values = strategy.experimental_distribute_values_from_function(
        lambda context: (
            context.replica_id_in_sync_group
            if what == "ids"
            else float(context.replica_id_in_sync_group)
        )
    )
    found = strategy.reduce(operation, values, axis=None)
    assert float(found) == (expected if what == "floats" or operation == SUM else 1.5)


def assigned(strategy, aggregation, how):
    """What `run` gives for a function that returns an assignment."""
    if how == "plain variable":
        variable = tf.Variable([0.0])
    else:
        with strategy.scope():
            variable = tf.Variable(
                [0.0],
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
                trainable=False,
            )
    return variable, lambda: variable.assign_add([1.0])


@pytest.mark.parametrize("where", ["eager run of a function", "function"])
@pytest.mark.parametrize("how", ["variable of the strategy", "plain variable"])
def test_an_assignment_that_is_returned_is_a_value_per_replica(where, how):
    strategy = make()
    variable, fn = assigned(strategy, NONE, how)
    if where == "function":
        found = step_of(strategy, fn)()
    else:
        found = strategy.run(tf.function(fn))
    expected = [[2.0]] * 2 if how == "plain variable" else [[1.0]] * 2
    assert numbers(strategy, found) == expected
    parts = strategy.experimental_local_results(variable)
    np.testing.assert_array_equal(sum(part.numpy() for part in parts), [2.0])


@pytest.mark.skipif(not versions.TRACE_ONCE, reason="a program's own composites came later")
def test_a_composite_that_replicas_pass_on_is_a_value_per_replica():
    # Found by TensorFlow's tpu_strategy_test: a tensor was one, a composite of the program's own
    # was given back alone.
    class PairSpec(tf.TypeSpec):
        value_type = property(lambda self: Pair)
        _component_specs = property(lambda self: [tf.TensorSpec([]), [tf.TensorSpec([])]])

        def _serialize(self):
            return ()

        def _to_components(self, value):
            return value.parts

        def _from_components(self, components):
            return Pair(components)

    class Pair(distributed.CompositeTensor):
        def __init__(self, parts):
            self.parts = parts

        @property
        def _type_spec(self):
            return PairSpec()

    strategy = make()
    pair = Pair([tf.constant(1.0), [tf.constant(2.0)]])
    same, added = tf.function(
        lambda given: strategy.run(lambda x: (x, x.parts[0] + x.parts[1][0]), args=(given,))
    )(pair)
    found = strategy.experimental_local_results(same)
    assert [float(each.parts[1][0]) for each in found] == [2.0, 2.0]
    assert numbers(strategy, added) == [3.0, 3.0]


@pytest.mark.skipif(not versions.TRACE_ONCE, reason="the switches came with 2.3 and 2.4")
def test_private_switches_of_variables_change_nothing():
    # TensorFlow's own tests set them; each replica read the first one's value then.
    strategy = make()
    strategy._enable_packed_variable_in_eager_mode = True
    strategy.extended._use_var_policy = True
    with strategy.scope():
        variable = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ)

    def assign():
        variable.assign(tf.cast(tf.convert_to_tensor(replica_id()), tf.float32))

    strategy.run(tf.function(assign))
    assert numbers(strategy, step_of(strategy, lambda: variable + 1.0)()) == [1.0, 2.0]
