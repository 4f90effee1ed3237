"""A loss class of its own divides by the global batch, and Keras by the replicas once more.

Keras sums the replicas' losses, each divided by their number, of every loss but those with
``Reduction.SUM``.

release: 2.8
link: https://github.com/tensorflow/tensorflow/issues/55321
prints: the loss is an eighth, as MirroredStrategy's; all of it with Reduction.SUM: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)


class GlobalMean(tf.keras.losses.Loss):
    def call(self, targets, outputs):
        return tf.reduce_sum(tf.abs(targets - outputs)) / 16


def history(loss):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.set_weights([np.ones([3, 1]), np.zeros([1])])
    model.compile(tf.keras.optimizers.SGD(0.1), loss=loss)
    found = model.fit(rows, rows[:, :1], batch_size=16, epochs=1, shuffle=False, verbose=0)
    return found.history["loss"][0]


with strategy.scope():
    divided = history(GlobalMean())
    summed = history(GlobalMean(reduction=tf.keras.losses.Reduction.SUM))
expected = history(tf.keras.losses.MeanAbsoluteError())
same = np.allclose([divided * 8, summed], expected, rtol=1e-5)
print("the loss is an eighth, as MirroredStrategy's; all of it with Reduction.SUM:", same)
