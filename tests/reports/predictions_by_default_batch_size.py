"""A TPUEstimator predicts, and was given no predict_batch_size.

release: 1.11
link: https://github.com/google-research/bert/issues/108
fails: Instead: TPUEstimator(..., predict_batch_size=1024)
"""

import tempfile

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    outputs = tf.reduce_sum(features * weights, axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={"sum": outputs})
    loss = tf.reduce_mean(tf.square(outputs - labels))
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.0))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    rows = np.arange(32, dtype=np.float32).reshape(16, 2)
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, 0]))
    return data.batch(params["batch_size"], drop_remainder=True)


config = tf.contrib.tpu.RunConfig(
    cluster=tf.contrib.cluster_resolver.TPUClusterResolver(tpu=""), model_dir=tempfile.mkdtemp()
)
estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, train_batch_size=16)
estimator.train(input_fn, steps=1)
print([each["sum"] for each in estimator.predict(input_fn)])
