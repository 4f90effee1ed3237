"""A wrapper of a layer normalizes its weights, by variables that it sets in its first call.

release: 2.0
link: https://github.com/tensorflow/addons/issues/740
prints: weights as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)


class Normalized(tf.keras.layers.Wrapper):
    def build(self, shape):
        self.layer.build(shape)
        self.direction = self.layer.kernel
        self.length = self.add_weight("length", [2], initializer="ones")
        self.started = self.add_weight("started", [], dtype=tf.bool, trainable=False)
        super().build(shape)

    def call(self, inputs):
        length = tf.cond(self.started, lambda: tf.identity(self.length), self.start)
        with tf.control_dependencies([length]):
            kernel = tf.nn.l2_normalize(self.direction, axis=0) * length
        return tf.matmul(inputs, kernel)

    def start(self):
        self.length.assign(tf.norm(self.direction, axis=0))
        self.started.assign(True)
        return tf.identity(self.length)


def train():
    layer = Normalized(tf.keras.layers.Dense(2, use_bias=False, kernel_initializer="ones"))
    model = tf.keras.Sequential([tf.keras.Input([3]), layer])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :2])).batch(16)
    model.fit(data, epochs=3, verbose=0)
    return model.get_weights()


with strategy.scope():
    found = train()
same = all(np.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in zip(found, train()))
print("weights as on one device:", same)
