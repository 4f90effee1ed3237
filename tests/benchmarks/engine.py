"""A process that trains one model with one engine, as it is told.

    python -m tests.benchmarks.engine JSON

The JSON object has ``engine`` (plain, virtual, cpus, mirrored, mirrored_one; in a worker of a
cluster cluster:virtual, cluster:cpus, workers), ``cores`` (of this process), ``model``, ``batch``
(the global one), ``seed`` (of all, or none) and the model's own options.
Then each line on standard input is a command: ``first`` (the first step, with
trace), ``steps N``, ``sent``. Each answer is a line ``@`` and a JSON object: ``seconds`` and
``cpu`` (of all threads), per step, and ``peak``, the bytes of resident memory that
building and training have added so far; for ``sent`` the type and the bytes of each collective of
a step, and ``trained``, the bytes of the trained variables.
"""

import gc
import json
import resource
import sys
import time

import tensorflow as tf
from tensorflow.python.framework import function_def_to_graph

from tests.benchmarks import models, nets


def make_strategy(engine, cores):
    """The strategy of an engine, None for plain TensorFlow."""
    if engine == "plain":
        return None
    if engine == "workers":
        return tf.distribute.MultiWorkerMirroredStrategy()
    if engine.endswith(("virtual", "cpus")):
        from tpudist import v2_2

        return v2_2.TPUStrategy(v2_2.TPUClusterResolver("%s:%d" % (engine, cores)))
    cpu = tf.config.experimental.list_physical_devices("CPU")[0]
    tf.config.experimental.set_virtual_device_configuration(
        cpu, [tf.config.experimental.VirtualDeviceConfiguration()] * cores
    )
    operation = tf.distribute.ReductionToOneDevice() if engine == "mirrored_one" else None
    return tf.distribute.MirroredStrategy(
        ["/device:CPU:%d" % core for core in range(cores)], cross_device_ops=operation
    )


class Training:
    """One model under one engine.

    Args:
      options: the JSON object.
    """

    def __init__(self, options):
        self._strategy = make_strategy(options["engine"], options["cores"])
        if "seed" in options:
            tf.keras.utils.set_random_seed(options["seed"])
        tf.function(lambda x: x + 1)(tf.constant(1))
        self._before = peak()
        kind, size = {**models.MODELS, **nets.NETS}[options["model"]], options["batch"]
        self._global_batch = size
        dataset = tf.data.Dataset.from_tensors(kind.batch(size, options))
        if options.get("unknown"):
            dataset = dataset.unbatch().batch(size)
        if self._strategy is None:
            self._model = self._built(kind(options))
        else:
            with self._strategy.scope():
                self._model = self._built(kind(options))
            dataset = self._strategy.experimental_distribute_dataset(dataset)
        self._inputs = next(iter(dataset))
        signature = list(dataset.element_spec) if options.get("unknown") else None
        self._step = tf.function(self._train, input_signature=signature)

    def _built(self, model):
        if hasattr(model.optimizer, "build"):  # Keras 3 makes its slots lazily
            model.optimizer.build(model.variables)
        return model

    def _replica(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self._model.losses(x, y)) / self._global_batch
        gradients = tape.gradient(loss, self._model.variables)
        self._model.optimizer.apply_gradients(zip(gradients, self._model.variables))
        return loss

    def _train(self, x, y):
        if self._strategy is None:
            return self._replica(x, y)
        losses = self._strategy.run(self._replica, args=(x, y))
        return self._strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    def steps(self, count):
        """Runs `count` steps; returns the answer to the parent."""
        start, used = time.perf_counter(), time.process_time()
        for _ in range(count):
            loss = self._step(*self._inputs)
        loss = float(loss)
        seconds = (time.perf_counter() - start) / count
        cpu = (time.process_time() - used) / count
        assert loss == loss, "the loss is NaN"
        return {"seconds": seconds, "cpu": cpu, "peak": peak() - self._before, "loss": loss}

    def sent(self):
        """Returns the bytes of each collective of a step, as its graphs say."""
        graph = self._step.get_concrete_function(*self._inputs).graph
        found = [op for op in graph.get_operations() if op.type.startswith("Collective")]
        for definition in graph.as_graph_def().library.function:
            if any(node.op.startswith("Collective") for node in definition.node_def):
                called = function_def_to_graph.function_def_to_graph(definition)
                found += [op for op in called.get_operations() if op.type.startswith("Collective")]
        return {
            "sent": sorted((op.type, _bytes(op.outputs[0])) for op in found),
            "trained": sum(map(_bytes, self._model.variables)),
        }


def _bytes(tensor):
    """The bytes of a tensor; None if its shape is not known."""
    count = tensor.shape.num_elements()
    return count and count * tensor.dtype.size


def peak():
    """Largest resident memory of this process so far, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(options):
    """Answers commands until standard input ends."""
    training = Training(json.loads(options))
    gc.collect()  # else one of the engines' first steps, by chance, has a whole collection
    print("@" + json.dumps({}), flush=True)
    for line in sys.stdin:
        word, _, count = line.strip().partition(" ")
        answer = training.sent() if word == "sent" else training.steps(int(count or 1))
        print("@" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
