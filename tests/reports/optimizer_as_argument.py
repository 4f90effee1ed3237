"""The optimizer is handed to the replica function as an argument.

release: 2.2
link: https://github.com/huggingface/transformers/issues/4994
prints: eight gradients of 2 are applied: True
"""

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
with strategy.scope():
    weights = tf.Variable(1.0)
    optimizer = tf.keras.optimizers.SGD(0.5)


def replica(optimizer):
    optimizer.apply_gradients([(2.0 * weights, weights)])


@tf.function
def step():
    strategy.experimental_run_v2(replica, args=(optimizer,))


step()
print("eight gradients of 2 are applied:", weights.numpy() == -7.0)
