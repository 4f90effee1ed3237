"""Code of TensorFlow 1.11 to 1.15: a `TPUEstimator`.

The model function runs on each core with its share of the batch. An epoch is
one loop on the device.

    python examples/tpu_estimator.py [--tpu virtual:8]
    tpudist run --era contrib --tpu virtual:8 SCRIPT   if it says `import tensorflow as tf`
"""

import argparse
import tempfile

import convnet
import digits
import numpy as np

from tpudist.contrib import tensorflow as tf

STEPS = digits.TRAIN // convnet.BATCH  # in an epoch


def model_fn(features, labels, mode, params):
    weights = [
        tf.get_variable(name, initializer=value)
        for name, value in convnet.initial_weights().items()
    ]
    losses = convnet.losses(weights, features["image"], labels)
    loss = tf.reduce_mean(losses)
    if mode == tf.estimator.ModeKeys.EVAL:
        hits = convnet.hits(weights, features["image"], labels)
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metric_fn, [losses, hits, features["is_real"]])
        )
    optimizer = tf.train.MomentumOptimizer(convnet.RATE, convnet.MOMENTUM)
    if params["use_tpu"]:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def metric_fn(losses, hits, is_real):
    """On the host: the images of all cores, without those that fill up the batch."""
    return {
        "mean_loss": tf.metrics.mean(losses, is_real),
        "accuracy": tf.metrics.mean(hits, is_real),
    }


class Progress(tf.train.SessionRunHook):
    """Shows each epoch."""

    def __init__(self, epochs):
        self.epoch, self.epochs = 0, epochs

    def begin(self):
        self.loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.epoch += 1
        digits.progress(self.epoch, self.epochs, loss=run_values.results)


def filled(images, labels, count):
    """The images and labels and, up to `count`, others that are not real."""
    missing = [(0, count - len(labels))]
    is_real = np.pad(np.ones(len(labels), np.float32), missing, "constant")
    images = np.pad(images, missing + [(0, 0)] * 3, "constant")
    return {"image": images, "is_real": is_real}, np.pad(labels, missing, "constant")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--tpu", default="virtual:8")
    options.add_argument("--epochs", type=int, default=convnet.EPOCHS)
    options = options.parse_args()

    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(options.tpu)
    print("Number of replicas:", resolver.get_tpu_system_metadata().num_cores)
    train, test = digits.load()

    batch = -(-len(test[1]) // 8) * 8  # images of the test, a whole number for each core

    def input_fn(images, count, params):
        dataset = tf.data.Dataset.from_tensor_slices(filled(*images, count=count)).repeat()
        return dataset.batch(params["batch_size"], drop_remainder=True)

    config = tf.contrib.tpu.RunConfig(
        cluster=resolver,
        model_dir=tempfile.mkdtemp(),
        tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=STEPS),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=convnet.BATCH, eval_batch_size=batch
    )
    estimator.train(
        lambda params: input_fn(train, digits.TRAIN, params),
        hooks=[Progress(options.epochs)],
        max_steps=options.epochs * STEPS,
    )
    found = estimator.evaluate(lambda params: input_fn(test, batch, params), steps=1)
    convnet.report(found["mean_loss"], found["accuracy"])


if __name__ == "__main__":
    main()
