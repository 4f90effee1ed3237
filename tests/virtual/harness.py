"""Steps of a few cores, as functions, and TensorFlow on each replica's share alone."""

import numpy as np
import tensorflow as tf

from tpudist.core.system import cluster
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual.variables import stacked_copies

CORES = 4
MEAN = tf.distribute.ReduceOp.MEAN
SUM = tf.distribute.ReduceOp.SUM

#: A variable's first value, and what its copies have once they are rows.
START = np.array([1.0, 2.0], np.float32)
VALUES = np.arange(1, 2 * CORES + 1, dtype=np.float32).reshape([CORES, 2])


def make(cores=CORES):
    """A strategy on so many virtual cores."""
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % cores))


def distributed(strategy, values):
    """Each replica's own of the `values`."""
    return strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(values[context.replica_id_in_sync_group])
    )


# Compared with TensorFlow.


def graph(fn=None, **options):
    """A function of a program without control flow of Python that AutoGraph would convert."""
    return tf.function(fn, autograph=False, **options)


def shares(*shape):
    """Numbers from 0.1 to 0.9, others for each replica."""
    values = np.random.RandomState(0).uniform(0.1, 0.9, (CORES,) + shape)
    return values.astype(np.float32)


def run(strategy, fn, values):
    """What `fn` gives each replica, as nests of arrays."""
    found = graph(lambda x: strategy.run(fn, args=(x,)))(distributed(strategy, values))
    parts = [strategy.experimental_local_results(leaf) for leaf in tf.nest.flatten(found)]
    return [[part.numpy() for part in replica] for replica in zip(*parts)]


def check(strategy, fn, values):
    """Compares the replicas' results of `fn` with TensorFlow's on each share."""
    found, alone = run(strategy, fn, values), graph(fn)
    for result, share in zip(found, values):
        expected = tf.nest.flatten(alone(tf.constant(share)))
        for got, wanted in zip(result, expected):
            np.testing.assert_allclose(got, wanted.numpy(), 1e-5, 1e-6)


# The function of a step, looked into.


def traced(strategy, fn, values):
    """The function of a step in which each replica calls `fn` with its value; its argument."""
    given = distributed(strategy, values)
    step = tf.function(lambda x: strategy.run(fn, args=(x,)))
    return step.get_concrete_function(given), given


def called(function):
    """The definitions of the functions that a step calls."""
    return list(function.graph.as_graph_def().library.function)


def results(strategy, function, given):
    """What each replica gets from the function."""
    return [part.numpy() for part in strategy.experimental_local_results(function(given))]


def stepped(strategy, replica, values=VALUES):
    """What each replica's `replica` gives for its value, in a function."""
    function, placed = traced(strategy, replica, values)
    parts = strategy.experimental_local_results(function(placed))
    return [tf.nest.map_structure(lambda tensor: tensor.numpy(), part) for part in parts]


# What variables hold.


def held(strategy, variable):
    """What each replica's copy of the variable holds."""
    return [part.numpy() for part in strategy.experimental_local_results(variable)]


def in_rows(**options):
    """A strategy and a variable whose copies are `VALUES` now, in rows."""
    strategy = make()
    with strategy.scope():
        variable = tf.Variable(START, trainable=False, **options)
    function, values = traced(strategy, lambda x: variable.assign(x), VALUES)
    function(values)
    assert stacked_copies.of(variable)
    return strategy, variable
