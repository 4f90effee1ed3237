"""A model that is a class of its own trains under tf.compat.v1's TPUStrategy in eager mode.

release: 2.0
link: https://github.com/tensorflow/tensorflow/issues/33657
prints: weights after three steps as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.compat.v1.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)


class Doubling(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")

    def call(self, inputs, training=None):
        return 2.0 * self.dense(inputs)


def train():
    model = Doubling()
    model.compile(tf.keras.optimizers.SGD(0.01), loss="mse")
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(16).repeat()
    model.fit(data, steps_per_epoch=3, verbose=0)
    return model.get_weights()


with strategy.scope():
    found = train()
same = all(np.allclose(*pair, rtol=1e-5) for pair in zip(found, train()))
print("weights after three steps as on one device:", same)
