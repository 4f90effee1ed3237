"""A GAN with two optimizers overrides train_step and is trained by fit.

release: 2.2
link: https://github.com/tensorflow/tensorflow/issues/38061
prints: weights of both nets as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(32, 4)).astype(np.float32)


class Adversarial(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.maker = tf.keras.layers.Dense(4, kernel_initializer="ones")
        self.judge = tf.keras.layers.Dense(1, kernel_initializer="ones")
        self.maker.build([None, 4])
        self.judge.build([None, 4])

    def compile(self):
        super().compile()
        self.optimizers = [tf.keras.optimizers.Adam(0.1), tf.keras.optimizers.SGD(0.1)]

    def train_step(self, real):
        losses = {}
        for sign, layer, optimizer in zip([-1.0, 1.0], [self.maker, self.judge], self.optimizers):
            with tf.GradientTape() as tape:
                made = self.maker(real[:, ::-1])
                gap = tf.sigmoid(self.judge(made)) - tf.sigmoid(self.judge(real))
                loss = sign * tf.reduce_sum(gap) / 16
            gradients = tape.gradient(loss, layer.trainable_variables)
            optimizer.apply_gradients(zip(gradients, layer.trainable_variables))
            losses[layer.name] = loss
        return losses


def train():
    model = Adversarial()
    model.compile()
    model.fit(tf.data.Dataset.from_tensor_slices(rows).batch(16), epochs=2, verbose=0)
    return [*model.maker.get_weights(), *model.judge.get_weights()]


with strategy.scope():
    found = train()
same = all(np.allclose(*pair, rtol=1e-3, atol=1e-5) for pair in zip(found, train()))
print("weights of both nets as on one device:", same)
