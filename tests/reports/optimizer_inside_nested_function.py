"""The replica function calls a tf.function of its own, which applies gradients.

release: 2.4
link: https://github.com/tensorflow/models/issues/9972
prints: a step was done: -7.0
"""

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
with strategy.scope():
    weights = tf.Variable(1.0)
    optimizer = tf.keras.optimizers.SGD(0.5)


@tf.function
def train(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(batch * weights)
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


@tf.function
def step(batch):
    return strategy.run(lambda batch: train(2.0 * batch), args=(batch,))


step(tf.ones([2]))
print("a step was done:", weights.numpy())
