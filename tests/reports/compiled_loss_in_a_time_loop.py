"""A train_step calls compiled_loss for each step of a sequence, in a tf.while_loop.

release: 2.4
link: https://github.com/tensorflow/tensorflow/issues/49469
prints: trained, loss is that of one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(64, 5, 3)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((rows, rows[..., :1])).batch(16)


class Stepwise(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")

    def call(self, inputs):
        return self.dense(inputs)

    def train_step(self, data):
        inputs, targets = data

        def step(time, loss):
            outputs = self(inputs[:, time], training=True)
            return time + 1, loss + self.compiled_loss(targets[:, time], outputs)

        with tf.GradientTape() as tape:
            _, loss = tf.while_loop(lambda time, loss: time < 5, step, (0, 0.0))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {metric.name: metric.result() for metric in self.metrics}


def trained():
    model = Stepwise()
    model.compile(tf.keras.optimizers.SGD(0.01), "mse")
    return model.fit(data, epochs=3, verbose=0, shuffle=False).history["loss"]


with strategy.scope():
    loss = trained()
close = np.allclose(loss, trained(), rtol=1e-4)
print("trained, loss is that of one device: %s" % close)
