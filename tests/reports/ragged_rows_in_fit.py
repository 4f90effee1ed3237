"""Rows of unequal length, as ragged tensors of a dataset that ends, train and are evaluated.

release: 2.6
link: https://github.com/keras-team/keras/issues/15593
fails: Instead: tf.distribute.InputOptions(experimental_fetch_to_device=False)
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
lengths = np.arange(32) % 5 + 1
words = tf.RaggedTensor.from_row_lengths(np.arange(lengths.sum()) % 7, lengths)
labels = (np.arange(32) % 2)[:, None].astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((words, labels)).batch(16)


def train():
    inputs = tf.keras.Input([None], ragged=True, dtype=tf.int64)
    table = np.sin(np.arange(14.0)).reshape(7, 2)
    rows = tf.keras.layers.Embedding(7, 2, weights=[table])(inputs)
    rows = tf.keras.layers.Lambda(lambda rows: tf.reduce_mean(rows, axis=1))(rows)
    outputs = tf.keras.layers.Dense(1, kernel_initializer="ones")(rows)
    model = tf.keras.Model(inputs, outputs)
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    history = model.fit(data, epochs=2, verbose=0).history["loss"]
    return [*history, model.evaluate(data, verbose=0), *model.get_weights()]


with strategy.scope():
    found = train()
same = all(np.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in zip(found, train()))
print("losses and weights as on one device:", same)
