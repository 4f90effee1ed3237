"""A program that reads distributed data in many ways, with few threads for TensorFlow's ops.

It prints the name of each way and the sum of what each step has read. A way that has not ended
after a minute is shown as a traceback, and ends the program.
"""

import faulthandler
import json
import sys

from tpudist.tfcompat import versions
from tpudist.v2_2 import tensorflow as tf

SECONDS = 60
CORES, BATCH = 4, 8

#: {name of a way: what its steps read}
EXPECTED = {
    "steps in a row": [28.0, 92.0],
    "steps of a loop": [28.0, 92.0],
    "steps with a partial batch": [28.0, 63.0],
    "all elements": [28.0 + 63.0, 28.0 + 63.0],
    "all elements, some replicas without": [28.0 + 17.0, 28.0 + 17.0],
    "all elements of a function's dataset": [28.0 + 8.0, 28.0 + 8.0],
    "a function's dataset": [28.0, 92.0],
    "an argument": [28.0, 63.0],
    "optionals": [28.0, 63.0, -1.0],
    "eager": [28.0, 63.0],
    "an iterator that is restarted": [28.0, 28.0, 92.0],
    "that of an input function": [28.0, 28.0, 92.0],
    "several hosts": [2016.0, 2016.0 + 64 * 64],
    "Keras": [12.0, 12.0, 16.0],
}
WAYS = {}


def way(name):
    """Registers a function of a strategy that returns the sums of the steps."""

    def register(function):
        WAYS[name] = function
        return function

    return register


def numbers(rows, size=BATCH):
    """Batches of the numbers 0., 1., ..., of which the last one may be smaller."""
    made = tf.data.Dataset.range(rows).map(lambda x: tf.cast(x, tf.float32))
    return made.batch(size, drop_remainder=rows % size == 0)


def from_function(strategy, rows):
    """The same for each replica in turn, of a function."""
    return strategy.experimental_distribute_datasets_from_function(
        lambda context: numbers(rows, context.get_per_replica_batch_size(BATCH))
    )


def total(strategy, batch):
    """The sum of what all replicas have read."""
    return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(batch,)), axis=None)


@way("steps in a row")
def in_a_row(strategy, rows=16, make=None):
    dataset = make or strategy.experimental_distribute_dataset(numbers(rows))

    @tf.function
    def steps(dataset):
        iterator = iter(dataset)
        return [total(strategy, next(iterator)) for _ in range(2)]

    return steps(dataset)


@way("steps of a loop")
def of_a_loop(strategy, rows=16):
    @tf.function
    def steps(dataset):
        iterator, sums = iter(dataset), tf.TensorArray(tf.float32, 2)
        for i in tf.range(2):
            sums = sums.write(i, total(strategy, next(iterator)))
        return sums.stack()

    return steps(strategy.experimental_distribute_dataset(numbers(rows)))


@way("steps with a partial batch")
def partial(strategy):
    return in_a_row(strategy, rows=14)


@way("all elements")
def all_elements(strategy, rows=14, make=None):
    dataset = make or strategy.experimental_distribute_dataset(numbers(rows))

    @tf.function
    def steps():
        found = 0.0
        for batch in dataset:
            found += total(strategy, batch)
        return found

    return [steps(), steps()]


@way("all elements, some replicas without")
def without(strategy):
    return all_elements(strategy, rows=10)


@way("all elements of a function's dataset")
def all_of_function(strategy):
    return all_elements(strategy, make=from_function(strategy, 9))


@way("a function's dataset")
def function(strategy):
    return in_a_row(strategy, make=from_function(strategy, 16))


@way("eager")
def eager(strategy):
    dataset = strategy.experimental_distribute_dataset(numbers(14))
    step = tf.function(lambda batch: total(strategy, batch))
    return [step(batch) for batch in dataset]


@way("several hosts")
def hosts(strategy):
    found = strategy_on("virtual:v3-32")
    return in_a_row(found, make=found.experimental_distribute_dataset(numbers(128, 64)))


if versions.ITERATORS_ARE_ARGUMENTS:

    @way("an argument")
    def argument(strategy):
        traces = []

        @tf.function
        def step(iterator):
            traces.append(iterator)
            return total(strategy, next(iterator))

        for _ in range(2):
            iterator = iter(strategy.experimental_distribute_dataset(numbers(14)))
            found = [step(iterator) for _ in range(2)]
        assert len(traces) == 1
        return found

    @way("an iterator that is restarted")
    def restarted(strategy, make=None):
        iterator = make or strategy.make_dataset_iterator(numbers(16))

        @tf.function
        def step():
            return total(strategy, iterator.get_next())

        first = step()
        iterator.initialize()
        return [first, step(), step()]

    @way("that of an input function")
    def input_function(strategy):
        return restarted(strategy, strategy.make_input_fn_iterator(lambda _: numbers(16, 2)))

    @way("Keras")
    def keras(strategy):
        with strategy.scope():
            layer = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
            model = tf.keras.Sequential([tf.keras.Input([1]), layer])
            model.compile(tf.keras.optimizers.SGD(0.0), "mse")
        data = tf.data.Dataset.from_tensor_slices((tf.ones([12, 1]), tf.zeros([12, 1])))
        sums = [12.0 * model.fit(data.batch(8), epochs=2, verbose=0).history["loss"][1]]
        sums.append(12.0 * model.evaluate(data.batch(8), verbose=0))
        sums.append(16.0 * model.predict(data.batch(8), verbose=0).mean())
        return sums


if versions.HAS_INPUT_OPTIONS:

    @way("optionals")
    def optionals(strategy):
        @tf.function
        def step(iterator):
            batch = iterator.get_next_as_optional()
            if batch.has_value():
                return total(strategy, batch.get_value())
            return -1.0

        iterator = iter(strategy.experimental_distribute_dataset(numbers(14)))
        return [step(iterator) for _ in range(3)]


def strategy_on(tpu):
    """A strategy on the virtual TPU of that name."""
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=tpu)
    return tf.distribute.experimental.TPUStrategy(resolver)


def main(threads):
    """Reads in every way."""
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    strategy = strategy_on("virtual:%d" % CORES)
    for name, read in WAYS.items():
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        print(json.dumps([name, [float(each) for each in read(strategy)]]), flush=True)
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(int(sys.argv[1]))
