"""A stateful LSTM with a batch of a given size is converted to a TPU model.

release: 1.13
link: https://github.com/tensorflow/tensorflow/issues/28395
prints: second prediction goes on from the first: True
"""

import numpy as np
import tensorflow as tf

rows = np.random.RandomState(0).normal(size=(8, 5, 2)).astype(np.float32)
model = tf.keras.Sequential()
model.add(tf.keras.layers.LSTM(3, batch_input_shape=(8, 5, 2), stateful=True))
model.add(tf.keras.layers.Dense(1))
model.compile(tf.train.GradientDescentOptimizer(0.1), loss="mse")
expected = [model.predict(rows, batch_size=8) for _ in range(2)]
model.reset_states()
cluster = tf.contrib.cluster_resolver.TPUClusterResolver(tpu="")
converted = tf.contrib.tpu.keras_to_tpu_model(
    model, strategy=tf.contrib.tpu.TPUDistributionStrategy(cluster)
)
found = [converted.predict(rows, batch_size=8) for _ in range(2)]
print("second prediction goes on from the first:", np.allclose(found, expected, atol=1e-5))
