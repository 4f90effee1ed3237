"""The TensorBoard callback with histograms is given to fit of a converted Keras model.

release: 1.13
link: https://github.com/tensorflow/tensorflow/issues/30528
prints: epochs: 2 events: True
"""

import os
import tempfile

import numpy as np
import tensorflow as tf

rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile(tf.train.GradientDescentOptimizer(0.1), loss="mse")
cluster = tf.contrib.cluster_resolver.TPUClusterResolver(tpu="")
model = tf.contrib.tpu.keras_to_tpu_model(
    model, strategy=tf.contrib.tpu.TPUDistributionStrategy(cluster)
)
folder = tempfile.mkdtemp()
board = tf.keras.callbacks.TensorBoard(log_dir=folder, histogram_freq=1)
history = model.fit(
    rows,
    rows[:, :1],
    batch_size=16,
    epochs=2,
    validation_data=(rows, rows[:, :1]),
    callbacks=[board],
    verbose=0,
)
print("epochs:", len(history.history["loss"]), "events:", bool(os.listdir(folder)))
