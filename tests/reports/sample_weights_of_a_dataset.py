"""A dataset without drop_remainder gives rows, labels and weights of the samples.

release: 2.3
link: https://github.com/tensorflow/tensorflow/issues/43195
prints: weighted loss as numpy: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(32, 3)).astype(np.float32)
labels, weights = np.arange(32) % 3, np.linspace(0.0, 2.0, 32, dtype=np.float32)
kernel = np.arange(9.0).reshape(3, 3) / 9
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(3,))])
    model.set_weights([kernel, np.zeros([3])])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.SGD(0.0), loss)
data = tf.data.Dataset.from_tensor_slices((rows, labels, weights)).batch(16)
found = model.fit(data, verbose=0).history["loss"][0]
logits = rows @ kernel
chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
expected = np.mean(weights * -np.log(chances[np.arange(32), labels]))
print("weighted loss as numpy:", np.allclose(found, expected, rtol=1e-5))
