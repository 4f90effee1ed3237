"""An op that writes a variable's handle writes the replica's own copy."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.ops import gen_resource_variable_ops as ops

from tpudist.errors import ContextError
from tpudist.system import cluster
from tpudist.tfcompat import distributed, versions
from tpudist.v2_2.strategy import TPUStrategy

CORES = 3

tf1 = tf.compat.v1
needs_functions = pytest.mark.skipif(not versions.HAS_FUNCTION, reason="There is no tf.function")


@pytest.fixture
def strategy():
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))


def number():
    context = tf.distribute.get_replica_context()
    return tf.cast(context.replica_id_in_sync_group, tf.float32)


def add(variable, value=None):
    value = tf.constant(1.0) if value is None else value
    return ops.assign_add_variable_op(variable.handle, value)


def branch(variable):
    tf.cond(tf.constant(True), lambda: with_one(add(variable, number())), lambda: 0.0)


def loop(variable):
    tf.while_loop(
        lambda i: i < 2, lambda i: i + tf.cast(with_one(add(variable, number())), tf.int32), [0]
    )


def with_one(op):
    with tf.control_dependencies([op]):
        return tf.constant(1.0)


def nested(variable):
    tf.function(lambda: with_one(add(variable, number())))()


#: {what is done in a replica: what it adds on replica i}
WRITES = {
    "one value": (add, lambda i: 1),
    "a value each": (lambda variable: add(variable, number()), lambda i: i),
    "in a branch": (branch, lambda i: i),
    "in a loop": (loop, lambda i: 2 * i),
    "in a function": (nested, lambda i: i),
}


def values(strategy, variable):
    return [float(part.numpy()) for part in strategy.experimental_local_results(variable)]


@needs_functions
@pytest.mark.parametrize("aggregation", ["NONE", "MEAN"])
@pytest.mark.parametrize("what", sorted(WRITES))
def test_in_a_function(strategy, what, aggregation):
    write, added = WRITES[what]
    with strategy.scope():
        variable = tf.Variable(1.0, aggregation=getattr(tf.VariableAggregation, aggregation))

    @tf.function
    def step():
        def replica():
            write(variable)
            return variable.read_value()

        return strategy.experimental_local_results(strategy.run(replica))

    assert [float(each) for each in step()] == [1 + added(i) for i in range(CORES)]
    assert [float(each) for each in step()] == [1 + 2 * added(i) for i in range(CORES)]
    assert values(strategy, variable) == [1 + 2 * added(i) for i in range(CORES)]


@pytest.mark.parametrize(
    "what", sorted(set(WRITES) - {"in a function", "in a branch", "in a loop"})
)
def test_in_a_session(strategy, what):
    write, added = WRITES[what]
    with tf.Graph().as_default(), strategy.scope():
        variable = tf1.get_variable("v", initializer=1.0, use_resource=True)

        def replica():
            return with_one(write(variable))

        done = distributed.components(strategy.extended.call_for_each_replica(replica))
        found = [part.read_value() for part in distributed.components(variable)]
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(done)
            assert session.run(found) == [1 + added(i) for i in range(CORES)]


@needs_functions
def test_writing_a_variable_that_a_graph_relies_on_is_refused(strategy):
    with strategy.scope():
        variable = tf.Variable(1.0)
    read = tf.function(lambda: strategy.run(lambda: variable + 1.0))
    read()

    with pytest.raises(ContextError, match="call the function that assigns it before"):
        tf.function(lambda: strategy.run(lambda: with_one(add(variable))))()


@needs_functions
def test_reading_by_the_handle_does_not_split_a_variable(strategy):
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0])

    @tf.function
    def step():
        def replica():
            read = tf.function(
                lambda: tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=tf.float32)
            )
            return read() + tf.gather(variable, [1])

        return strategy.run(replica)

    step()
    assert len({id(part) for part in distributed.components(variable)}) == 1


@pytest.mark.skipif(versions.HAS_FUNCTION, reason="1.14 and newer update across replicas")
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_optimizers_of_keras_1_13(strategy, momentum):
    from tensorflow.python.keras.optimizer_v2 import gradient_descent

    with tf.Graph().as_default():
        x = np.random.RandomState(0).rand(24, 2).astype(np.float32)
        y = x.sum(axis=1, keepdims=True)

        def trained(strategy=None):
            layer = tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))
            model = tf.keras.Sequential([layer])
            optimizer = gradient_descent.SGD(0.1, momentum=momentum)
            model.compile(optimizer, "mse", **({"distribute": strategy} if strategy else {}))
            model.fit(x + 1.0, y, batch_size=6, epochs=2, shuffle=False, verbose=0)
            return model.get_weights()

        for found, expected in zip(trained(strategy), trained()):
            np.testing.assert_allclose(found, expected, 1e-4)
