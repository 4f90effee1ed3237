"""Arrays of float64 and of bytes, 21 rows in batches of 16, are given to fit and predict.

Keras takes the mean over what each of eight replicas has: a last batch of five rows counts
five eighths.

release: 2.1
link: https://github.com/tensorflow/tensorflow/issues/36718
prints: weights and predictions as numpy has them: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(21, 3))
targets = np.arange(21).astype(np.uint8)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, input_shape=(3,))])
    model.set_weights([np.ones([3, 1])])
    model.compile(tf.keras.optimizers.SGD(0.01), loss="mse")
model.fit(rows, targets, batch_size=16, epochs=2, shuffle=False, verbose=0)
kernel = np.ones(3)
for _ in range(2):
    for first, last, divisor in [(0, 16, 16), (16, 21, 8)]:
        error = rows[first:last] @ kernel - targets[first:last]
        kernel = kernel - 0.01 * 2 * rows[first:last].T @ error / divisor
found = model.predict(rows, batch_size=16, verbose=0)
same = np.allclose(model.get_weights()[0][:, 0], kernel, rtol=1e-4) and np.allclose(
    found[:, 0], rows @ kernel, rtol=1e-3
)
print("weights and predictions as numpy has them:", same)
