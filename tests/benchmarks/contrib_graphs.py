"""contrib code in a graph: steps of a CNN in ``run_steps_on_dataset`` and on a plain device.

    python -m tests.benchmarks.contrib_graphs plain|CORES STEPS

prints, in JSON: CPU seconds of building the graph and running the first step, and of a later
step. `ratios` compares the two. All releases run it: ``tpudist matrix`` or another Python.
"""

import json
import statistics
import sys
import time

import numpy as np
import tensorflow as tf

from tests.benchmarks import processes

tf1 = tf.compat.v1

BATCH = 256

#: {what is measured: at most, over the plain device}.
BOUNDS = {"first": 4.0, "step": 1.10}


def ratios(cores, rounds, steps):
    """{what: virtual cores / one plain device}, medians of rounds in turn."""
    found = [
        [processes.answer("contrib_graphs", engine, steps) for engine in (cores, "plain")]
        for _ in range(rounds)
    ]
    return {
        what: statistics.median(many[what] / one[what] for many, one in found) for what in BOUNDS
    }


def dataset_fn(batch):
    """The same batch of images and labels, for ever."""
    images = np.random.RandomState(0).rand(batch, 28, 28, 1).astype(np.float32)
    labels = (np.arange(batch) % 10).astype(np.int32)
    return tf.data.Dataset.from_tensors((images, labels)).repeat()


def train(images, labels):
    """The loss and the training op of a CNN."""
    hidden, channels = images, 1
    for i, filters in enumerate((16, 32)):
        with tf1.variable_scope("conv%d" % i):
            kernel = tf1.get_variable("kernel", [3, 3, channels, filters])
            hidden = tf.nn.relu(tf.nn.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME"))
        hidden = tf1.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        channels = filters
    weights = tf1.get_variable("weights", [7 * 7 * channels, 10])
    logits = tf.matmul(tf.reshape(hidden, [-1, 7 * 7 * channels]), weights)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    return loss, tf1.train.MomentumOptimizer(0.01, 0.9).minimize(loss)


def virtual(cores):
    """What runs one step on virtual cores, and its loss."""
    from tpudist.contrib import tensorflow as contrib

    resolver = contrib.contrib.cluster_resolver.TPUClusterResolver("virtual:%d" % cores)
    distribution = contrib.contrib.distribute.TPUStrategy(resolver, steps_per_run=1)
    with distribution.scope():
        data = distribution.distribute_dataset(lambda: dataset_fn(BATCH // cores))

        def step(context, images, labels):
            loss, done = distribution.call_for_each_tower(train, images, labels)
            mean = contrib.VariableAggregation.MEAN
            context.set_last_step_output("loss", loss, mean)
            return distribution.group(done)

        context = distribution.run_steps_on_dataset(step, data.make_one_shot_iterator(), 1)
    return context.run_op, context.last_step_outputs["loss"]


def plain():
    """The same on one plain device."""
    loss, done = train(*tf1.data.make_one_shot_iterator(dataset_fn(BATCH)).get_next())
    return done, loss


def measure(engine, steps):
    """See the module."""
    started = time.process_time()
    with tf.Graph().as_default():
        fetches = plain() if engine == "plain" else virtual(int(engine))
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(fetches)
            first = time.process_time() - started
            session.run(fetches)
            started = time.process_time()
            for _ in range(steps):
                session.run(fetches)
            return {"first": first, "step": (time.process_time() - started) / steps}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
