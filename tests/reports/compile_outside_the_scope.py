"""The model is made in the strategy's scope and compiled outside of it.

release: 2.1
link: https://github.com/tensorflow/tensorflow/issues/36912
prints: compiled inside, then outside: the same history: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(64, 3)).astype(np.float32)


def compiled(model):
    model.compile(tf.keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
    return model


def made():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.set_weights([np.ones([3, 1]), np.zeros([1])])
    return model


def history(model):
    return model.fit(rows, rows[:, :1], batch_size=16, epochs=2, shuffle=False, verbose=0).history


with strategy.scope():
    inside = compiled(made())
    outside = made()
found = history(compiled(outside))
expected = history(inside)
same = all(np.allclose(found[name], expected[name], rtol=1e-5) for name in expected)
print("compiled inside, then outside: the same history:", same)
