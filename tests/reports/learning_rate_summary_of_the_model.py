"""The model function of a TPUEstimator writes the learning rate by tf.summary.scalar.

release: 1.12
link: https://github.com/google-research/bert/issues/484
prints: trained 8 steps, weight as numpy: True
"""

import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()


def model_fn(features, labels, mode, params):
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(weight * features["x"] - labels))
    rate = tf.train.exponential_decay(0.1, tf.train.get_or_create_global_step(), 1, 0.5)
    tf.summary.scalar("learning_rate", rate)
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(rate))
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    ones = np.ones([64], np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"x": ones}, ones))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


estimator = tf.contrib.tpu.TPUEstimator(
    model_fn,
    config=tf.contrib.tpu.RunConfig(
        model_dir=folder, tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=4)
    ),
    use_tpu=True,
    train_batch_size=16,
)
estimator.train(input_fn, max_steps=8)
expected = 0.0
for step in range(8):
    expected -= 0.1 * 0.5**step * 2 * (expected - 1)
right = np.allclose(estimator.get_variable_value("weight"), expected, rtol=1e-5)
print("trained %d steps, weight as numpy:" % estimator.get_variable_value("global_step"), right)
