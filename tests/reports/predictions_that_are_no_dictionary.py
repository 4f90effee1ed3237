"""The predictions of a TPUEstimatorSpec are one tensor.

release: 1.11
link: https://github.com/google-research/bert/issues/244
prints: 16 predictions as numpy: True
"""

import tempfile

import numpy as np
import tensorflow as tf

rows = np.arange(32, dtype=np.float32).reshape(16, 2)


def model_fn(features, labels, mode, params):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions=features * weights)


def input_fn(params):
    return tf.data.Dataset.from_tensor_slices(rows).batch(params["batch_size"])


config = tf.contrib.tpu.RunConfig(
    cluster=tf.contrib.cluster_resolver.TPUClusterResolver(tpu=""), model_dir=tempfile.mkdtemp()
)
estimator = tf.contrib.tpu.TPUEstimator(
    model_fn, config=config, train_batch_size=16, predict_batch_size=16
)
found = list(estimator.predict(input_fn))
print(len(found), "predictions as numpy:", np.array_equal(found, rows * [1.0, 2.0]))
