"""Validation data in full batches only, beside training data that repeats.

release: 2.1
link: https://github.com/tensorflow/tensorflow/issues/36932
prints: validation loss of 32 of 37 rows, as numpy: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(37, 3)).astype(np.float32)
targets = rows.sum(axis=1, keepdims=True)
data = tf.data.Dataset.from_tensor_slices((rows, targets))
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile(tf.keras.optimizers.SGD(0.1), loss="mse")
history = model.fit(
    data.repeat().batch(16, drop_remainder=True),
    steps_per_epoch=5,
    validation_data=data.batch(16, drop_remainder=True),
    verbose=0,
)
kernel, bias = model.get_weights()
expected = np.mean((rows[:32] @ kernel + bias - targets[:32]) ** 2)
same = np.allclose(history.history["val_loss"], expected, rtol=1e-5)
print("validation loss of 32 of 37 rows, as numpy:", same)
