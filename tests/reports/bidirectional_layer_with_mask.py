"""A Bidirectional layer over padded words trains in fit.

release: 2.4
link: https://github.com/tensorflow/tensorflow/issues/48880
prints: weights after two epochs as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
words = np.random.RandomState(0).randint(1, 9, size=(16, 6))
words[:, 4:] = 0
labels = words[:, :1] % 2


def train():
    tf.random.set_seed(0)
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Embedding(9, 4, mask_zero=True))
    model.add(tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(3)))
    model.add(tf.keras.layers.Dense(1, activation="sigmoid"))
    model.build([None, 6])
    model.set_weights([np.sin(np.arange(w.size)).reshape(w.shape) for w in model.get_weights()])
    model.compile(tf.keras.optimizers.Adam(0.01), "binary_crossentropy")
    model.fit(words, labels, batch_size=16, epochs=2, verbose=0)
    return model.get_weights()


with strategy.scope():
    found = train()
same = all(np.allclose(*pair, rtol=1e-3, atol=1e-5) for pair in zip(found, train()))
print("weights after two epochs as on one device:", same)
