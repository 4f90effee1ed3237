"""A model's own train_step returns its loss as a tensor, of which Keras shows one replica's.

release: 2.5
link: https://github.com/keras-team/keras/issues/15509
prints: weights as on one device, the loss of the first replica, all of it by a metric: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.arange(16, dtype=np.float32)[:, None] / 16


class Own(tf.keras.Model):
    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            error = tf.square(self(inputs, training=True) - targets)
            loss = tf.reduce_sum(error) / 16
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.total.update_state(loss)
        return {"loss": loss, "total": self.total.result()}


with strategy.scope():
    inputs = tf.keras.Input([1])
    outputs = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")(inputs)
    model = Own(inputs, outputs)
    model.total = tf.keras.metrics.Sum()
    model.compile(tf.keras.optimizers.SGD(0.1))
data = tf.data.Dataset.from_tensor_slices((rows, 3.0 * rows)).batch(16)
history = model.fit(data, verbose=0).history
each = 4 * rows[:, 0] ** 2 / 16
found = [model.get_weights()[0].item(), history["loss"][0], history["total"][0]]
same = np.allclose(found, [1 + 0.1 * each.sum(), each[:2].sum(), each.sum()])
print("weights as on one device, the loss of the first replica, all of it by a metric:", same)
