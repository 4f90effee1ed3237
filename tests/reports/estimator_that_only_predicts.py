"""A TPUEstimator that only predicts was given no train_batch_size.

release: 1.14
link: https://github.com/tensorflow/tensorflow/issues/30658
fails: Instead: train_batch_size=1024
"""

import tempfile

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    outputs = tf.reduce_sum(features * weights, axis=1)
    return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={"sum": outputs})


def input_fn(params):
    rows = np.arange(32, dtype=np.float32).reshape(16, 2)
    return tf.data.Dataset.from_tensor_slices(rows).batch(params["batch_size"])


config = tf.contrib.tpu.RunConfig(
    cluster=tf.contrib.cluster_resolver.TPUClusterResolver(tpu=""), model_dir=tempfile.mkdtemp()
)
estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, predict_batch_size=16)
print([each["sum"] for each in estimator.predict(input_fn)])
