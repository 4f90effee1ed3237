"""A model that trained on the TPU is saved beside the program, and loaded without a strategy.

release: 2.1
link: https://github.com/tensorflow/tensorflow/issues/36447
prints: predictions of both models are the same: True
"""

import os
import tempfile

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile("adam", "mse")
model.fit(rows, rows[:, :1], batch_size=16, verbose=0)
folder = os.path.join(tempfile.mkdtemp(), "model")
model.save(folder)
loaded = tf.keras.models.load_model(folder)
same = np.allclose(loaded.predict(rows, verbose=0), model.predict(rows, verbose=0), atol=1e-6)
print("predictions of both models are the same:", same)
