"""The model of a TPUEstimator minimizes with an optimizer that was not wrapped.

release: 2.4
link: https://github.com/tensorflow/tensorflow/issues/46526
fails: Instead: optimizer = tf.compat.v1.tpu.CrossShardOptimizer(optimizer)
"""

import tempfile

import numpy as np
import tensorflow.compat.v1 as tf


def model_fn(features, labels, mode, params):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(features * weights, axis=1) - labels))
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    rows = np.arange(32, dtype=np.float32).reshape(16, 2)
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, 0]))
    return data.batch(params["batch_size"], drop_remainder=True)


config = tf.estimator.tpu.RunConfig(
    cluster=tf.distribute.cluster_resolver.TPUClusterResolver(tpu=""), model_dir=tempfile.mkdtemp()
)
estimator = tf.estimator.tpu.TPUEstimator(model_fn, config=config, train_batch_size=16)
estimator.train(input_fn, steps=1)
print(estimator.get_variable_value("weights"))
