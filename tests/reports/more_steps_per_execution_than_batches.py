"""steps_per_execution is larger than the number of batches of the validation.

release: 2.12
link: https://github.com/keras-team/tf-keras/issues/211
prints: losses of training and validation as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(96, 3)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(16)


def train():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.set_weights([np.ones([3, 1]), np.zeros([1])])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", steps_per_execution=4)
    history = model.fit(data, validation_data=data.take(3), epochs=2, verbose=0).history
    return history["loss"] + history["val_loss"]


with strategy.scope():
    found = train()
expected = train()
print("losses of training and validation as on one device:", np.allclose(found, expected))
