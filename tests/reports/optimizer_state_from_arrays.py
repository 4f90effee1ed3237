"""The optimizer's state is kept as arrays, and set again in a program with a strategy.

release: 2.5
link: https://github.com/tensorflow/tensorflow/issues/55228
prints: weights go on as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)


def made():
    weights = tf.Variable([1.0, 2.0])
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.apply_gradients([(tf.zeros([2]), weights)])
    return weights, optimizer


weights, optimizer = made()
optimizer.apply_gradients([(tf.constant([3.0, 4.0]), weights)])
state = optimizer.get_weights()
with strategy.scope():
    again = tf.Variable(weights.numpy())
    resumed = tf.keras.optimizers.Adam(0.1)


@tf.function
def step(gradient):
    def replica(gradient):
        resumed.apply_gradients([(gradient, again)])

    strategy.run(replica, args=(gradient,))


step(tf.zeros([2]))
resumed.set_weights(state)
again.assign(weights)
step(tf.constant([0.5, 0.25]))
optimizer.apply_gradients([(tf.constant([4.0, 2.0]), weights)])
print("weights go on as on one device:", np.allclose(again, weights, rtol=1e-6))
