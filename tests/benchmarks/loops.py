"""`run_steps_on_dataset` of N steps against N calls of one step.

    python -m tests.benchmarks.loops MODE STEPS ROUNDS

MODE is ``session`` (a graph, Session.run) or ``function`` (tf.function). Prints
a JSON object: the median over the rounds of the loop's time over the calls'.
"""

import json
import statistics
import sys
import time

from tpudist.contrib import tensorflow as tf


def make_strategy():
    """The contrib strategy on 8 cores."""
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("virtual:8")
    return tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=1)


def dataset_fn():
    """Batches of 4 rows of 16 numbers, for ever."""
    return tf.data.Dataset.from_tensors(tf.ones([4, 16])).repeat()


def loss(weights, x):
    """A small regression: all outputs are to be 1."""
    return tf.reduce_mean(tf.square(tf.matmul(x, weights) - 1.0))


def ratio(loop, calls, rounds):
    """Median of ``time(loop) / time(calls)``, taken in turn."""
    ratios = []
    for _ in range(rounds):
        start = time.perf_counter()
        loop()
        middle = time.perf_counter()
        calls()
        ratios.append((middle - start) / (time.perf_counter() - middle))
    return statistics.median(ratios)


def session(steps, rounds):
    """In a graph: one Session.run against `steps` of them."""
    distribution = make_strategy()

    def tower_fn(x):
        weights = tf.get_variable("weights", [16, 4])
        return tf.train.GradientDescentOptimizer(0.01).minimize(loss(weights, x))

    def step(context, x):
        return distribution.group(distribution.call_for_each_tower(tower_fn, x))

    with tf.Graph().as_default(), distribution.scope():
        iterators = [
            distribution.distribute_dataset(dataset_fn).make_initializable_iterator()
            for _ in range(2)
        ]
        with tf.variable_scope("loop"):
            loop = distribution.run_steps_on_dataset(step, iterators[0], steps).run_op
        with tf.variable_scope("one"):
            one = step(None, iterators[1].get_next())
        with tf.Session() as run:
            run.run(
                [tf.global_variables_initializer()]
                + [iterator.initializer for iterator in iterators]
            )
            run.run([loop, one])
            return ratio(
                lambda: run.run(loop), lambda: [run.run(one) for _ in range(steps)], rounds
            )


def function(steps, rounds):
    """In eager mode: one call of a tf.function against `steps` of them."""
    distribution = make_strategy()
    with distribution.scope():
        weights = tf.Variable(tf.zeros([16, 4]))
        iterators = [iter(distribution.distribute_dataset(dataset_fn)) for _ in range(2)]

    def tower_fn(x):
        with tf.GradientTape() as tape:
            value = loss(weights, x)
        gradient = tape.gradient(value, weights)
        tf.train.GradientDescentOptimizer(0.01).apply_gradients([(gradient, weights)])
        return value

    def step(context, x):
        distribution.call_for_each_tower(tower_fn, x)

    @tf.function
    def loop():
        with distribution.scope():
            distribution.run_steps_on_dataset(step, iterators[0], steps)

    @tf.function
    def one():
        with distribution.scope():
            step(None, iterators[1].get_next())

    loop()
    one()
    return ratio(loop, lambda: [one() for _ in range(steps)], rounds)


def main(mode, steps, rounds):
    """Prints the answer."""
    modes = {"session": session, "function": function}
    print(json.dumps({"ratio": modes[mode](int(steps), int(rounds))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
