"""A model with a layer class of the program's own is converted to a TPU model.

release: 1.13
link: https://github.com/Separius/BERT-keras/issues/27
prints: predictions as before: True
"""

import numpy as np
import tensorflow as tf


class Normalization(tf.keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight("scale", [int(shape[-1])], initializer="ones")
        super().build(shape)

    def call(self, inputs):
        mean, variance = tf.nn.moments(inputs, [-1], keep_dims=True)
        return self.scale * (inputs - mean) / tf.sqrt(variance + 1e-5)


rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)
inputs = tf.keras.layers.Input((3,))
model = tf.keras.Model(inputs, Normalization()(inputs))
model.compile(tf.train.GradientDescentOptimizer(0.1), loss="mse")
expected = model.predict(rows)
cluster = tf.contrib.cluster_resolver.TPUClusterResolver(tpu="")
model = tf.contrib.tpu.keras_to_tpu_model(
    model, strategy=tf.contrib.tpu.TPUDistributionStrategy(cluster)
)
found = model.predict(rows, batch_size=16)
print("predictions as before:", np.allclose(found, expected, atol=1e-6))
