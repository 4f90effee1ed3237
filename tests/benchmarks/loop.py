"""One device-side loop of 100 steps against 100 calls of one step.

    python -m tests.benchmarks.loop session|function ROUNDS
"""

import json
import statistics
import sys
import time

import numpy as np
import tensorflow as tf

from tpudist.contrib.distribute import TPUStrategy
from tpudist.core import cluster

STEPS = 100


def program(iterations):
    """(strategy, a function that builds a loop of `iterations` steps)."""
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:2"),
                           steps_per_run=iterations)
    with strategy.scope():
        weight = tf.compat.v1.get_variable(
            "weight%d" % iterations, initializer=np.ones([4], np.float32),
            aggregation=tf.VariableAggregation.SUM, use_resource=True)
    dataset = strategy.distribute_dataset(
        lambda: tf.data.Dataset.from_tensors(
            np.ones([4], np.float32)).repeat())

    def step(context, x):
        def tower(x):
            return weight.assign_sub(.001 * weight * x)
        return strategy.group(strategy.call_for_each_tower(tower, x))
    return strategy, dataset, step


def session():
    """(run a loop of n steps, ...) for one step and for STEPS, in a graph."""
    runs = {}
    target = tf.compat.v1.Session(graph=tf.Graph())
    with target.graph.as_default():
        for iterations in (1, STEPS):
            strategy, dataset, step = program(iterations)
            with strategy.scope():
                iterator = dataset.make_initializable_iterator()
                context = strategy.run_steps_on_dataset(
                    step, iterator, iterations)
            target.run(iterator.initializer)
            runs[iterations] = context.run_op
        target.run(tf.compat.v1.global_variables_initializer())
    return {n: (lambda op=op: target.run(op)) for n, op in runs.items()}


def function():
    """The same as calls of a ``tf.function``."""
    runs = {}
    for iterations in (1, STEPS):
        strategy, dataset, step = program(iterations)
        with strategy.scope():
            iterator = iter(dataset)

        @tf.function
        def call(strategy=strategy, iterator=iterator, step=step,
                 iterations=iterations):
            with strategy.scope():
                strategy.run_steps_on_dataset(step, iterator, iterations)
        runs[iterations] = call
    return runs


def seconds(run, times):
    """How long `times` calls take."""
    start = time.perf_counter()
    for _ in range(times):
        run()
    return time.perf_counter() - start


if __name__ == "__main__":
    made = {"session": session, "function": function}[sys.argv[1]]()
    for run in made.values():
        run()
    ratios = [seconds(made[STEPS], 1) / seconds(made[1], STEPS)
              for _ in range(int(sys.argv[2]) + 2)]
    print(json.dumps({"ratio": statistics.median(ratios)}))
