"""A training step that is not given to the strategy applies gradients in its scope.

release: 2.0
link: https://github.com/tensorflow/tensorflow/issues/35226
fails: Instead: strategy.run(train_step, args=(batch,)), in a tf.function
"""

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
with strategy.scope():
    weight = tf.Variable(2.0)
    optimizer = tf.keras.optimizers.Adam(0.1)


def step(x):
    with tf.GradientTape() as tape:
        loss = weight * x
    optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
    return loss


with strategy.scope():
    print(step(tf.constant(3.0)))
