"""A converted Keras model predicts 13 rows, which eight cores cannot share evenly.

release: 1.13
link: https://github.com/tensorflow/tensorflow/issues/27313
fails: Instead: batch sizes that 8 divides
"""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
model.compile(tf.train.GradientDescentOptimizer(0.1), loss="mse")
rows = np.random.RandomState(0).normal(size=(13, 3)).astype(np.float32)
kernel, bias = model.get_weights()
cluster = tf.contrib.cluster_resolver.TPUClusterResolver(tpu="")
model = tf.contrib.tpu.keras_to_tpu_model(
    model, strategy=tf.contrib.tpu.TPUDistributionStrategy(cluster)
)
found = model.predict(rows, batch_size=8)
same = np.allclose(found, rows @ kernel + bias, atol=1e-5)
print(len(found), "predictions are those of the model on one device:", same)
