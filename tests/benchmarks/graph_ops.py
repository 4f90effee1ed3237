"""Graph ops of a facade's `run` against the native strategy's, on a described TPU.

    python -m tests.benchmarks.graph_ops

Traces one training step in a tf.function with TensorFlow's own TPUStrategy and
with each 2.x facade, on a TPU system that is only described. Prints a JSON
object: number of ops, those of functions included, by strategy.
"""

import json

import tensorflow as tf
from tensorflow.python.distribute import tpu_strategy

from tests.native.described import DescribedResolver
from tpudist import v2_0, v2_2


def runner(strategy):
    """The method that the strategy's era calls `run`."""
    if isinstance(strategy, v2_0.TPUStrategy) or not hasattr(strategy, "run"):
        return strategy.experimental_run_v2
    return strategy.run


def count(strategy_class):
    """The ops that a step adds; all the functions' ops included."""
    with tf.Graph().as_default() as graph:
        strategy = strategy_class(DescribedResolver())
        with strategy.scope():
            weights = tf.Variable(tf.ones([16, 4]))

        def replica(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, weights)))
            gradient = tf.distribute.get_replica_context().all_reduce(
                tf.distribute.ReduceOp.SUM, tape.gradient(loss, weights)
            )
            return loss + tf.reduce_sum(gradient)

        @tf.function
        def step(x):
            losses = runner(strategy)(replica, args=(x,))
            return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

        step(tf.ones([8, 16]))
        definition = graph.as_graph_def()
    return len(definition.node) + sum(
        len(function.node_def) for function in definition.library.function
    )


def main():
    """Prints the answer."""
    if hasattr(tpu_strategy, "get_tpu_system_metadata"):  # until 2.2
        tpu_strategy.get_tpu_system_metadata = lambda resolver: resolver.get_tpu_system_metadata()
    print(
        json.dumps(
            {
                "native": count(tf.distribute.experimental.TPUStrategy),
                "v2_0": count(v2_0.TPUStrategy),
                "v2_2": count(v2_2.TPUStrategy),
            }
        )
    )


if __name__ == "__main__":
    main()
