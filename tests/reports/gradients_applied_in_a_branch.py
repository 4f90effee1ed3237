"""A train_step that accumulates gradients applies them in tf.cond, every second step.

release: 2.11
link: https://github.com/keras-team/keras/issues/17429
prints: trained
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(64, 3)).astype(np.float32)


class Accumulating(tf.keras.Sequential):
    def apply(self):
        self.optimizer.apply_gradients(zip(self.sums, self.trainable_variables))

    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(inputs) - targets))
        for total, gradient in zip(self.sums, tape.gradient(loss, self.trainable_variables)):
            total.assign_add(gradient)
        tf.cond(self.optimizer.iterations % 2 == 0, self.apply, lambda: None)
        return {"loss": loss}


with strategy.scope():
    model = Accumulating([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.sums = [tf.Variable(tf.zeros_like(w), trainable=False) for w in model.weights]
    model.compile(tf.keras.optimizers.SGD(0.1))
model.fit(tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(16), verbose=0)
print("trained")
