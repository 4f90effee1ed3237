"""An MLP on as many cores as a pod has, and on one plain device; the input of a pod's hosts.

    python -m tests.benchmarks.pods plain|virtual:CORES descent|by_hand|averaged|of_hosts STEPS
    python -m tests.benchmarks.pods plain|virtual:v3-2048 dataset|from_function|sharded STEPS

print, in JSON: CPU seconds of the first step and of a later one, and the peak of the
process's resident memory in bytes. `by_hand` assigns in the replica function; `averaged` keeps
for each layer an average of its own on each core; `of_hosts` takes a batch at every step, of a
dataset that each host makes. Of the hosts' input a step is one
`next`, and the first has the distributing before it. `sharded` hosts read all elements and
keep one of 256, which `plain` does with plain iterators over the same 256 datasets.
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
#: How the weights are trained, and on whose batches.
KINDS = {
    "descent": "an optimizer of Keras",
    "by_hand": "assigned in the replicas",
    "averaged": "with averages of each core",
    "of_hosts": "a batch a step of a dataset a host",
}
INPUT_BOUNDS = [
    Bound("first", "distributing, and the first `next`, CPU time", 5),
    Bound("step", "a `next`, CPU time", 0.2),
    Bound("peak", "peak of resident memory", 1.5),
]


def figures(figure, cores, repeats, steps, kinds):
    """A figure for each bound and optimizer, virtual cores over the plain device.

    Args:
      figure: makes one of (what, measured, unit, bound).
      cores: number of virtual cores.
      repeats: how often each engine is run, in turn.
      steps: steps after the first.
      kinds: those of `KINDS` that are measured.
    """
    made = []
    name = "v3-%d" % cores
    for kind in kinds:
        # A core's own averages are variables: fewer cores, for a step grows with them.
        count = cores // 8 if kind == "averaged" else cores
        slice_name = name if kind == "of_hosts" else count
        ratios = _ratios("virtual:%s" % slice_name, kind, repeats, steps)
        for bound in BOUNDS:
            what = "%s of an MLP, %s: %d virtual cores / one plain device"
            at_most = None if kind == "of_hosts" else bound.at_most
            told = what % (bound.what, KINDS[kind], count)
            made.append(figure(told, ratios[bound.key], "", at_most))
    what = "a `next`, CPU time: the hosts of %s that `.shard` / plain iterators of their datasets"
    ratio = _ratios("virtual:" + name, "sharded", repeats, steps)["step"]
    return [*made, *_of_hosts(figure, name, repeats, steps), figure(what % name, ratio, "", 1.1)]


def _ratios(engine, kind, repeats, steps):
    """Each key's figure of the engine over the plain one's, the median of runs in turn."""
    found = collections.defaultdict(list)
    for _ in range(repeats):
        one, many = (processes.answer("pods", each, kind, steps) for each in ("plain", engine))
        for bound in BOUNDS:
            found[bound.key].append(many[bound.key] / one[bound.key])
    return {key: statistics.median(each) for key, each in found.items()}


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
      kind: one of `KINDS`.
    """

    def __init__(self, strategy, kind):
        import tensorflow as tf

        self._strategy, self._by_hand = strategy, kind == "by_hand"
        self._averages = []
        data = tf.data.Dataset.from_tensors(tf.random.normal([BATCH, WIDTH])).repeat()
        if strategy is None:
            self._variables(kind)
        else:
            with strategy.scope():
                self._variables(kind)
            if kind == "of_hosts":
                data = strategy.experimental_distribute_datasets_from_function(_of_host())
            else:
                data = strategy.experimental_distribute_dataset(data)
        self._batches = iter(data)
        self._next = (lambda: next(self._batches)) if kind == "of_hosts" else next(self._batches)
        self._step = tf.function(self._train)

    def _variables(self, kind):
        import tensorflow as tf

        shape = [WIDTH, WIDTH]
        self._weights = [tf.Variable(tf.random.normal(shape, stddev=0.05)) for _ in range(LAYERS)]
        self._momenta = [tf.Variable(tf.zeros(shape)) for _ in range(LAYERS)]
        if kind == "averaged":
            self._averages = [
                tf.Variable(tf.zeros([WIDTH]), trainable=False) for _ in range(LAYERS)
            ]
        self._optimizer = tf.keras.optimizers.SGD(0.001, momentum=0.9)
        if hasattr(self._optimizer, "build"):  # Keras 3 makes its slots lazily
            self._optimizer.build(self._weights)

    def step(self):
        """Trains on a batch; the loss."""
        return float(self._step(self._next() if callable(self._next) else self._next))

    def _train(self, batch):
        if self._strategy is None:
            return self._replica(batch)
        return self._strategy.reduce("MEAN", self._strategy.run(self._replica, (batch,)), axis=None)

    def _replica(self, rows):
        import tensorflow as tf

        layers = []
        with tf.GradientTape() as tape:
            for weight in self._weights:
                rows = tf.nn.relu(tf.matmul(rows, weight))
                layers.append(rows)
            loss = tf.reduce_mean(rows**2)
        gradients = tape.gradient(loss, self._weights)
        for average, layer in zip(self._averages, layers):
            average.assign(average * 0.9 + 0.1 * tf.reduce_mean(layer, 0))
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
    from tpudist import v2_2

    name, _, cores = engine.partition(":")
    if optimizer == "of_hosts" and cores:
        strategy = v2_2.TPUStrategy(v2_2.TPUClusterResolver(engine))
    else:
        strategy = make_strategy(name, int(cores or 1))
    training = Training(strategy, optimizer)
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

    start = time.process_time()
    if engine == "plain":
        take = _of_plain_hosts(_of_host(sharded=True))
    else:
        strategy = v2_2.TPUStrategy(v2_2.TPUClusterResolver(engine))
        if pipeline == "dataset":
            rows = tf.data.Dataset.from_tensor_slices(tf.random.normal([BATCH, WIDTH]))
            batches = rows.batch(BATCH, drop_remainder=True).repeat()
            made = strategy.experimental_distribute_dataset(batches)
        else:
            of_host = _of_host(pipeline == "sharded")
            made = strategy.experimental_distribute_datasets_from_function(of_host)
        take = iter(made).__next__
    take()
    first = time.process_time() - start
    start = time.process_time()
    for _ in range(steps):
        take()
    return {"first": first, "step": (time.process_time() - start) / steps, "peak": peak()}


def _of_host(sharded=False):
    """Makes a host's dataset: of its own elements, or of what it keeps of all."""
    import tensorflow as tf

    data = tf.random.normal([BATCH, WIDTH])

    def of_host(context):
        index, count = context.input_pipeline_id, context.num_input_pipelines
        rows = tf.data.Dataset.from_tensor_slices(data if sharded else data[index::count])
        rows = rows.shard(count, index) if sharded else rows
        size = context.get_per_replica_batch_size(BATCH)
        return rows.batch(size, drop_remainder=True).repeat()

    return of_host


def _of_plain_hosts(of_host):
    """Takes what the replicas of 256 hosts take, from plain iterators that tune nothing."""
    import tensorflow as tf

    options = tf.data.Options()
    options.autotune.enabled = False  # an iterator's thread may take a minute to end
    contexts = [tf.distribute.InputContext(256, i, 2048) for i in range(256)]
    hosts = [iter(of_host(context).with_options(options)) for context in contexts]
    return lambda: [next(host) for host in hosts for _ in range(8)]


if __name__ == "__main__":
    of_input = sys.argv[2] not in KINDS
    answer = (measure_input if of_input else measure)(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print(json.dumps(answer))
