"""A TPUEstimator's model function logs a tensor of its own by a LoggingTensorHook.

release: 1.13
link: https://github.com/tensorflow/tensorflow/issues/29678
fails: Instead: TPUEstimatorSpec(..., host_call=(host_fn, [tensor])), without that hook
"""

import tempfile

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    error = tf.square(tf.reduce_sum(features * weights, axis=1) - labels)
    loss = tf.reduce_mean(error, name="mean_error")
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.0))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    hook = tf.train.LoggingTensorHook({"error": loss}, every_n_iter=1)
    return tf.contrib.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=[hook]
    )


def input_fn(params):
    rows = np.arange(32, dtype=np.float32).reshape(16, 2)
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, 0])).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


config = tf.contrib.tpu.RunConfig(
    cluster=tf.contrib.cluster_resolver.TPUClusterResolver(tpu=""), model_dir=tempfile.mkdtemp()
)
estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, train_batch_size=16)
estimator.train(input_fn, steps=2)
print("steps:", estimator.get_variable_value("global_step"))
