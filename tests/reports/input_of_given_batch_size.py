"""tf.keras.Input is given the batch size of all replicas together.

release: 2.2
link: https://github.com/tensorflow/tensorflow/issues/40428
prints: weights as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(32, 3)).astype(np.float32)


def train():
    inputs = tf.keras.Input([3], batch_size=16)
    outputs = tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs)
    model = tf.keras.Model(inputs, outputs)
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(16, drop_remainder=True)
    model.fit(data, epochs=2, verbose=0)
    return model.get_weights()


with strategy.scope():
    found = train()
same = all(np.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in zip(found, train()))
print("weights as on one device:", same)
