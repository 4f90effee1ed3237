"""The TPU system is initialized before the program has connected to it.

release: 2.0
link: https://github.com/tensorflow/tensorflow/issues/33045
prints: sum of eight: 8.0
"""

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.tpu.experimental.initialize_tpu_system(resolver)
tf.config.experimental_connect_to_cluster(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
total = strategy.experimental_run_v2(lambda: tf.constant(1.0))
print("sum of eight:", float(strategy.reduce("SUM", total, axis=None)))
