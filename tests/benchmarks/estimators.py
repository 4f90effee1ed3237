"""A TPUEstimator on 8 virtual cores against ``use_tpu=False`` at the same global batch.

    python -m tests.benchmarks.estimators [ROUNDS]

Until TensorFlow 2.15 the other one is TensorFlow's own TPUEstimator. Prints a JSON object:
the median, over the rounds, of ours / the other's; the runs take turns in one process.

* ``train``: ``train()`` of 1,000 steps of a linear model, start-up and checkpoints included,
  ``iterations_per_loop=100`` against 1,000 Session calls.
* ``step``: a step of a small convolutional net, batch 128, once it runs.
* ``train_cpu``, ``step_cpu``: the same in time of the process, which others on the machine
  change less.
* ``memory``: resident memory after 10,000 steps of the linear model / after 1,000, of ours.
"""

import json
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf

from tests.estimator import harness
from tpudist.estimator import tpu
from tpudist.tfcompat import estimators

tf1 = tf.compat.v1
BATCH = 128


def now():
    """(Seconds of the clock, seconds of this process)."""
    return np.array([time.perf_counter(), time.process_time()])


class Times(tf1.train.SessionRunHook):
    """When each call of the Session ended."""

    def __init__(self):
        self.ends = []

    def after_run(self, run_context, run_values):
        self.ends.append(now())


def make(ours, model_fn, batch, per_loop):
    """A TPUEstimator on cores, or TensorFlow's own without."""
    folder = tempfile.mkdtemp()
    native = estimators.native_tpu_estimator
    if ours or native is None:
        return harness.estimator(
            folder, model_fn, per_loop=per_loop, use_tpu=ours, train_batch_size=batch
        )
    return native(
        model_fn=model_fn,
        config=estimators.native_tpu["RunConfig"](model_dir=folder),
        use_tpu=False,
        train_batch_size=batch,
    )


def train(ours):
    """Seconds of 1,000 small steps; see :func:`now`."""
    start = now()
    make(ours, harness.model_fn, 16, 100).train(harness.input_fn, max_steps=1000)
    return now() - start


def convnet(features, labels, mode, params):
    """The net of TensorFlow's MNIST tutorial, smaller."""

    def variable(name, *shape):
        return tf1.get_variable(name, shape, initializer=tf1.truncated_normal_initializer(0, 0.1))

    value = features["x"]
    for i, (before, after) in enumerate([(1, 16), (16, 32)]):
        value = tf1.nn.conv2d(
            value, filter=variable("w%d" % i, 5, 5, before, after), strides=[1] * 4, padding="SAME"
        )
        value = tf1.nn.max_pool(tf.nn.relu(value), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    value = tf.nn.relu(tf.matmul(tf.reshape(value, [-1, 7 * 7 * 32]), variable("w2", 1568, 128)))
    logits = tf.matmul(value, variable("w3", 128, 10))
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    optimizer = tf1.train.MomentumOptimizer(0.01, 0.9)
    if params["use_tpu"]:
        optimizer = harness.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def images(params):
    """Random images."""
    random = np.random.RandomState(0)
    given = {"x": random.rand(1024, 28, 28, 1).astype(np.float32)}
    dataset = tf.data.Dataset.from_tensor_slices((given, random.randint(0, 10, 1024)))
    return dataset.repeat().batch(params["batch_size"], drop_remainder=True)


def step(ours, steps=20):
    """Seconds of one step of the net; see :func:`now`."""
    times = Times()
    made = make(ours, convnet, BATCH, steps)
    made.train(images, max_steps=3 * steps, hooks=[times])
    per_call = steps if ours else 1
    count = 2 * steps // per_call
    return (times.ends[-1] - times.ends[-1 - count]) / (count * per_call)


def resident():
    """Resident memory of this process, bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


class Memory(tf1.train.SessionRunHook):
    """Resident memory after each loop."""

    def __init__(self):
        self.found = []

    def after_run(self, run_context, run_values):
        self.found.append(resident())


def memory():
    """Resident memory after 10,000 steps / after 1,000."""
    hook = Memory()
    made = make(True, harness.model_fn, 16, 100)
    made.train(harness.input_fn, max_steps=10000, hooks=[hook])
    return hook.found[-1] / hook.found[9]


def ratios(name, measure, rounds):
    """Medians of ours / the other's, in turn, after one of each: by the clock, of the process."""
    measure(True), measure(False)
    found = np.median([measure(True) / measure(False) for _ in range(rounds)], axis=0)
    return dict(zip([name, name + "_cpu"], found.tolist()))


def main(rounds="5"):
    """Prints the answer."""
    tf1.logging.set_verbosity(tf1.logging.ERROR)
    found = dict(ratios("train", train, int(rounds)), **ratios("step", step, int(rounds)))
    print(json.dumps(dict(found, memory=memory())))


if __name__ == "__main__":
    main(*sys.argv[1:])
