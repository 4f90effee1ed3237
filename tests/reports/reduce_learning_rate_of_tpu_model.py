"""ReduceLROnPlateau changes the learning rate of a converted Keras model.

release: 1.11
link: https://github.com/tensorflow/tpu/issues/209
prints: learning rate after three epochs without progress: 0.0125
"""

import numpy as np
import tensorflow as tf

rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile(tf.keras.optimizers.SGD(0.1), loss="mse")
cluster = tf.contrib.cluster_resolver.TPUClusterResolver(tpu="")
model = tf.contrib.tpu.keras_to_tpu_model(
    model, strategy=tf.contrib.tpu.TPUDistributionStrategy(cluster)
)
reduce = tf.keras.callbacks.ReduceLROnPlateau(
    monitor="loss", factor=0.5, patience=1, min_delta=1000.0
)
model.fit(rows, rows[:, :1], epochs=4, batch_size=16, callbacks=[reduce], verbose=0)
rate = tf.keras.backend.get_value(model.optimizer.lr)
print("learning rate after three epochs without progress:", round(float(rate), 6))
