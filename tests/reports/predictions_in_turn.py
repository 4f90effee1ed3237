"""A TPUEstimator predicts twice in one program, each time with another input.

release: 1.15
link: https://github.com/tensorflow/tensorflow/issues/41014
prints: both predictions as numpy: True
"""

import tempfile

import numpy as np
import tensorflow as tf

rows = np.random.RandomState(0).normal(size=(40, 2)).astype(np.float32)


def model_fn(features, labels, mode, params):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    outputs = tf.reduce_sum(features["rows"] * weights, axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.tpu.TPUEstimatorSpec(mode, predictions={"sum": outputs})
    loss = tf.reduce_mean(tf.square(outputs))
    optimizer = tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.0))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_of(rows):
    def input_fn(params):
        data = tf.data.Dataset.from_tensor_slices({"rows": rows})
        return data.batch(params["batch_size"], drop_remainder=True)

    return input_fn


config = tf.estimator.tpu.RunConfig(
    cluster=tf.distribute.cluster_resolver.TPUClusterResolver(tpu=""), model_dir=tempfile.mkdtemp()
)
estimator = tf.estimator.tpu.TPUEstimator(
    model_fn, config=config, train_batch_size=8, predict_batch_size=8
)
estimator.train(input_of(rows), steps=1)
same = []
for part in rows[:16], rows[16:]:
    found = [each["sum"] for each in estimator.predict(input_of(part))]
    same.append(np.allclose(found, part @ [1.0, 2.0], rtol=1e-5))
print("both predictions as numpy:", all(same))
