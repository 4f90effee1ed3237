"""Recurrent layers train with train_on_batch, one row at a time.

release: 1.14
link: https://github.com/tensorflow/tensorflow/issues/29839
fails: Keras takes arrays and datasets in fit only. Instead: model.fit with these
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(4, 5, 2)).astype(np.float32)


def train():
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.LSTM(3, input_shape=(5, 2)))
    model.add(tf.keras.layers.Dense(1))
    model.compile(tf.train.RMSPropOptimizer(0.1), loss="mse")
    return [model.train_on_batch(rows[i : i + 1], np.ones([1, 1])) for i in range(4)]


with strategy.scope():
    print("losses:", train())
