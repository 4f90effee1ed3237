"""A TPUEstimator trains, evaluates, and trains on.

release: 1.12
link: https://github.com/tensorflow/tensor2tensor/issues/1202
prints: error after three and after six steps as numpy: True
"""

import tempfile

import numpy as np
import tensorflow as tf

rows = np.random.RandomState(0).normal(size=(16, 2)).astype(np.float32)


def model_fn(features, labels, mode, params):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    error = tf.square(tf.reduce_sum(features * weights, axis=1) - labels)
    loss = tf.reduce_mean(error)
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = (lambda error: {"error": tf.metrics.mean(error)}, [error])
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=metrics)


def input_fn(params):
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, 0]))
    if params["batch_size"] == 16:
        data = data.repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


config = tf.contrib.tpu.RunConfig(
    cluster=tf.contrib.cluster_resolver.TPUClusterResolver(tpu=""),
    model_dir=tempfile.mkdtemp(),
    tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=3),
)
estimator = tf.contrib.tpu.TPUEstimator(
    model_fn, config=config, train_batch_size=16, eval_batch_size=8
)
weights, found, expected = np.array([1.0, 2.0]), [], []
for _ in range(2):
    estimator.train(input_fn, steps=3)
    found.append(estimator.evaluate(input_fn, steps=2)["error"])
    for _ in range(3):
        weights -= 0.1 * 2 * rows.T @ (rows @ weights - rows[:, 0]) / 16
    expected.append(np.mean((rows @ weights - rows[:, 0]) ** 2))
print("error after three and after six steps as numpy:", np.allclose(found, expected, rtol=1e-4))
