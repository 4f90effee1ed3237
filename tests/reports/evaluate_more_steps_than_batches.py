"""evaluate is asked for more steps than a TPUEstimator's input has batches.

release: 1.9
link: https://github.com/tensorflow/tensor2tensor/issues/933
prints: loss of the one batch there is: 1364.0
"""

import tempfile

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(features * weights, axis=1) - labels))
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.0))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    rows = np.arange(32, dtype=np.float32).reshape(16, 2)
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, 0]))
    return data.batch(params["batch_size"], drop_remainder=True)


config = tf.contrib.tpu.RunConfig(
    cluster=tf.contrib.cluster_resolver.TPUClusterResolver(tpu=""),
    model_dir=tempfile.mkdtemp(),
    tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=1),
)
estimator = tf.contrib.tpu.TPUEstimator(
    model_fn, config=config, train_batch_size=16, eval_batch_size=16
)
estimator.train(input_fn, steps=1)
print("loss of the one batch there is:", estimator.evaluate(input_fn, steps=3)["loss"])
