"""An MLP on as many cores as a pod has, and on one plain device; the input of a pod's hosts.

    python -m tests.benchmarks.pods plain|virtual:CORES descent|by_hand STEPS
    python -m tests.benchmarks.pods virtual:v3-2048 dataset|from_function STEPS

print, in JSON: CPU seconds of the first step and of a later one, and the peak of the
process's resident memory in bytes. `by_hand` assigns in the replica function. Of the hosts'
input a step is one `next`, and the first has the distributing before it.
"""

import collections
import json
import statistics
import sys
import time

from tests.benchmarks import processes

LAYERS, WIDTH, BATCH = 6, 256, 4096

Bound = collections.namedtuple("Bound", "key what at_most")
BOUNDS = [
    Bound("first", "first step, CPU time", 8),
    Bound("step", "step, CPU time", 1.25),
    Bound("peak", "peak of resident memory", 1.3),
]
INPUT_BOUNDS = [
    Bound("first", "distributing, and the first `next`, CPU time", 5),
    Bound("step", "a `next`, CPU time", 0.2),
    Bound("peak", "peak of resident memory", 1.5),
]


def figures(figure, cores, repeats, steps):
    """A figure for each bound and optimizer, virtual cores over the plain device.

    Args:
      figure: makes one of (what, measured, unit, bound).
      cores: number of virtual cores.
      repeats: how often each engine is run, in turn.
      steps: steps after the first.
    """
    made = []
    for optimizer in ("descent", "by_hand"):
        found = collections.defaultdict(list)
        for _ in range(repeats):
            for engine in ("plain", "virtual:%d" % cores):
                found[engine].append(processes.answer("pods", engine, optimizer, steps))
        plain, virtual = found.values()
        for bound in BOUNDS:
            ratio = statistics.median(
                many[bound.key] / one[bound.key] for one, many in zip(plain, virtual)
            )
            what = "%s of an MLP, %s: %d virtual cores / one plain device" % (
                bound.what,
                "assigned in the replicas" if optimizer == "by_hand" else "an optimizer of Keras",
                cores,
            )
            made.append(figure(what, ratio, "", bound.at_most))
    return made + _of_hosts(figure, "v3-%d" % cores, repeats, steps)


def _of_hosts(figure, name, repeats, steps):
    """A figure for each bound and kind of input pipeline, on the slice of that name."""
    made = []
    for pipeline, by_whom in (("dataset", "one dataset"), ("from_function", "a dataset a host")):
        found = [
            processes.answer("pods", "virtual:" + name, pipeline, steps) for _ in range(repeats)
        ]
        for bound in INPUT_BOUNDS:
            measured = statistics.median(each[bound.key] for each in found)
            unit, size = ("GiB", 2**30) if bound.key == "peak" else ("s", 1)
            what = "%s: the hosts of %s, %s" % (bound.what, name, by_whom)
            made.append(figure(what, measured / size, unit, bound.at_most))
    return made


class Training:
    """The MLP, its optimizer and a batch; `step()` trains on it.

    Args:
      strategy: the strategy, or None.
      by_hand: whether the replicas assign the weights themselves.
    """

    def __init__(self, strategy, by_hand):
        import tensorflow as tf

        self._strategy, self._by_hand = strategy, by_hand
        data = tf.data.Dataset.from_tensors(tf.random.normal([BATCH, WIDTH])).repeat()
        if strategy is None:
            self._variables()
        else:
            with strategy.scope():
                self._variables()
            data = strategy.experimental_distribute_dataset(data)
        self._batch = next(iter(data))
        self._step = tf.function(self._train)

    def _variables(self):
        import tensorflow as tf

        shape = [WIDTH, WIDTH]
        self._weights = [tf.Variable(tf.random.normal(shape, stddev=0.05)) for _ in range(LAYERS)]
        self._momenta = [tf.Variable(tf.zeros(shape)) for _ in range(LAYERS)]
        self._optimizer = tf.keras.optimizers.SGD(0.001, momentum=0.9)
        if hasattr(self._optimizer, "build"):  # Keras 3 makes its slots lazily
            self._optimizer.build(self._weights)

    def step(self):
        """Trains on the batch; the loss."""
        return float(self._step(self._batch))

    def _train(self, batch):
        if self._strategy is None:
            return self._replica(batch)
        return self._strategy.reduce("MEAN", self._strategy.run(self._replica, (batch,)), axis=None)

    def _replica(self, rows):
        import tensorflow as tf

        with tf.GradientTape() as tape:
            for weight in self._weights:
                rows = tf.nn.relu(tf.matmul(rows, weight))
            loss = tf.reduce_mean(rows**2)
        gradients = tape.gradient(loss, self._weights)
        if not self._by_hand:
            self._optimizer.apply_gradients(zip(gradients, self._weights))
            return loss
        if self._strategy is not None:
            gradients = tf.distribute.get_replica_context().all_reduce("sum", gradients)
        for weight, momentum, gradient in zip(self._weights, self._momenta, gradients):
            momentum.assign(momentum * 0.9 + gradient)
            weight.assign_sub(0.001 * momentum)
        return loss


def measure(engine, optimizer, steps):
    """See the module."""
    from tests.benchmarks.engine import make_strategy, peak

    name, _, cores = engine.partition(":")
    training = Training(make_strategy(name, int(cores or 1)), optimizer == "by_hand")
    start = time.process_time()
    training.step()
    first = time.process_time() - start
    start = time.process_time()
    for _ in range(steps):
        training.step()
    return {"first": first, "step": (time.process_time() - start) / steps, "peak": peak()}


def measure_input(engine, pipeline, steps):
    """See the module."""
    import tensorflow as tf

    from tests.benchmarks.engine import peak
    from tpudist import v2_2

    strategy = v2_2.TPUStrategy(v2_2.TPUClusterResolver(engine))
    data = tf.random.normal([BATCH, WIDTH])
    rows = tf.data.Dataset.from_tensor_slices

    def of_host(context):
        mine = data[context.input_pipeline_id :: context.num_input_pipelines]
        size = context.get_per_replica_batch_size(BATCH)
        return rows(mine).batch(size, drop_remainder=True).repeat()

    start = time.process_time()
    if pipeline == "dataset":
        batches = rows(data).batch(BATCH, drop_remainder=True).repeat()
        iterator = iter(strategy.experimental_distribute_dataset(batches))
    else:
        iterator = iter(strategy.experimental_distribute_datasets_from_function(of_host))
    next(iterator)
    first = time.process_time() - start
    start = time.process_time()
    for _ in range(steps):
        next(iterator)
    return {"first": first, "step": (time.process_time() - start) / steps, "peak": peak()}


if __name__ == "__main__":
    of_input = sys.argv[2] in ("dataset", "from_function")
    answer = (measure_input if of_input else measure)(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print(json.dumps(answer))
