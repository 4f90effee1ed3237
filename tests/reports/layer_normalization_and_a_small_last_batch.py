"""fit trains LayerNormalization on arrays of 150 rows, which no batch divides.

release: 2.3
link: https://github.com/tensorflow/tensorflow/issues/42228
prints: weights after two epochs as by the mean of the replicas' means: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(150, 7)).astype(np.float32)
labels = np.random.RandomState(1).normal(size=(150, 7)).astype(np.float32)


def fitted(sample_weight=None):
    kernel = tf.keras.initializers.Constant(0.1)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.LayerNormalization(input_shape=(7,)),
            tf.keras.layers.Dense(7, kernel_initializer=kernel),
        ]
    )
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    model.fit(rows, labels, 32, epochs=2, shuffle=False, sample_weight=sample_weight, verbose=0)
    return model.get_weights()


with strategy.scope():
    weights = fitted()
# The last 22 rows: seven replicas have three of them, the last one has one.
of_rows = np.ones([150], np.float32)
of_rows[128:149], of_rows[149] = 22 / 8 / 3, 22 / 8
alone = fitted(of_rows)
print(
    "weights after two epochs as by the mean of the replicas' means:",
    all(np.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in zip(weights, alone)),
)
