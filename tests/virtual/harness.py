"""Runs steps on a few virtual cores, and compares them with TensorFlow on each replica's share."""

import numpy as np
import tensorflow as tf

from tpudist.system import cluster
from tpudist.v2_2.strategy import TPUStrategy

CORES = 4
MEAN = tf.distribute.ReduceOp.MEAN
SUM = tf.distribute.ReduceOp.SUM

#: Why tests of batching are skipped on old releases.
TRACED_PER_REPLICA = "before 2.4 the replica function is traced once per replica"

#: The first value of a variable, and the values of its copies once it is split.
START = np.array([1.0, 2.0], np.float32)
VALUES = np.arange(1, 2 * CORES + 1, dtype=np.float32).reshape([CORES, 2])


def make(cores=CORES):
    """A strategy on so many virtual cores, or on a slice by its name."""
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%s" % cores))


def distributed(strategy, values):
    """A per-replica value, of one of the `values` for each replica."""
    return strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(values[context.replica_id_in_sync_group])
    )


# Compared with TensorFlow.


def graph(fn=None, **options):
    """A ``tf.function`` without AutoGraph, for programs without Python control flow."""
    return tf.function(fn, autograph=False, **options)


def shares(*shape):
    """Numbers from 0.1 to 0.9, different ones for each replica."""
    values = np.random.RandomState(0).uniform(0.1, 0.9, (CORES,) + shape)
    return values.astype(np.float32)


def run(strategy, fn, values):
    """The results of `fn` in each replica, as lists of arrays."""
    outputs = graph(lambda x: strategy.run(fn, args=(x,)))(distributed(strategy, values))
    parts = [strategy.experimental_local_results(leaf) for leaf in tf.nest.flatten(outputs)]
    return [[part.numpy() for part in replica] for replica in zip(*parts)]


def check(strategy, fn, values):
    """Compares the replicas' results of `fn` with TensorFlow's on each share."""
    outputs, alone = run(strategy, fn, values), graph(fn)
    for result, share in zip(outputs, values):
        expected = tf.nest.flatten(alone(tf.constant(share)))
        for got, wanted in zip(result, expected):
            np.testing.assert_allclose(got, wanted.numpy(), 1e-5, 1e-6)


# The function of a step, and the functions that it calls.


def traced(strategy, fn, values):
    """The function of a step in which each replica calls `fn` with its value; its argument."""
    inputs = distributed(strategy, values)
    step = tf.function(lambda x: strategy.run(fn, args=(x,)))
    return step.get_concrete_function(inputs), inputs


def called(function):
    """The definitions of the functions that a step calls."""
    return list(function.graph.as_graph_def().library.function)


def results(strategy, function, inputs):
    """The result of the function in each replica."""
    return [part.numpy() for part in strategy.experimental_local_results(function(inputs))]


def run_step(strategy, replica, values=VALUES):
    """The results of `replica`, called in a function with each replica's value."""
    function, placed = traced(strategy, replica, values)
    parts = strategy.experimental_local_results(function(placed))
    return [tf.nest.map_structure(lambda tensor: tensor.numpy(), part) for part in parts]


# Values of variables.


def copy_values(strategy, variable):
    """The values of the replicas' copies of the variable."""
    return [part.numpy() for part in strategy.experimental_local_results(variable)]


def with_split_copies(**options):
    """A strategy and a variable whose copies have the values `VALUES`."""
    strategy = make()
    with strategy.scope():
        variable = tf.Variable(START, trainable=False, **options)
    function, values = traced(strategy, lambda x: variable.assign(x), VALUES)
    function(values)
    np.testing.assert_array_equal(copy_values(strategy, variable), VALUES)
    return strategy, variable
