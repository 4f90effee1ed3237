"""BatchNormalization with renorm=True is made in the scope of a strategy, and trains.

The rows of all replicas are the same here, so that their averages are the batch's.

release: 1.14
link: https://github.com/tensorflow/tensorflow/issues/31531
prints: weights and averages as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.tile(np.random.RandomState(0).normal(size=(4, 3)), [8, 1]).astype(np.float32)


def train():
    inputs = tf.keras.Input([3])
    outputs = tf.keras.layers.BatchNormalization(renorm=True)(inputs)
    outputs = tf.keras.layers.Dense(1, kernel_initializer="ones")(outputs)
    model = tf.keras.Model(inputs, outputs)
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(32, drop_remainder=True)
    model.fit(data, epochs=3, verbose=0)
    return model.get_weights()


with strategy.scope():
    found = train()
same = all(np.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in zip(found, train()))
print("weights and averages as on one device:", same)
