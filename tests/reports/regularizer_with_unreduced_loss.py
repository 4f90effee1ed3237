"""compiled_loss with a loss for each row is given regularization losses, which are scalars.

release: 2.8
link: https://github.com/keras-team/keras/issues/16529
fails: loss += tf.nn.scale_regularization_loss(self.losses)
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)


class Own(tf.keras.Model):
    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            outputs = self(inputs, training=True)
            loss = self.compiled_loss(targets, outputs, regularization_losses=self.losses)
            loss = tf.nn.compute_average_loss(loss, global_batch_size=16)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


with strategy.scope():
    inputs = tf.keras.Input([3])
    outputs = tf.keras.layers.Dense(1, kernel_regularizer="l2")(inputs)
    model = Own(inputs, outputs)
    none = tf.keras.losses.Reduction.NONE
    model.compile(tf.keras.optimizers.SGD(0.01), tf.keras.losses.MeanSquaredError(none))
model.fit(tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(16), verbose=0)
print("trained")
