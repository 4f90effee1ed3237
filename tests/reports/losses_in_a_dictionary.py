"""The replica function returns its losses in a dictionary, which is to become numbers.

release: 2.3
link: https://github.com/tensorflow/tensorflow/issues/44973
prints: losses of all replicas: {'first': 28.0, 'second': 56.0}
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)


@tf.function
def step(batch):
    def replica(batch):
        return {"first": tf.reduce_sum(batch), "second": tf.reduce_sum(2.0 * batch)}

    return strategy.run(replica, args=(batch,))


data = tf.data.Dataset.from_tensor_slices(np.arange(8, dtype=np.float32)).batch(8)
(batch,) = strategy.experimental_distribute_dataset(data)
losses = step(batch)
reduced = {name: strategy.reduce("SUM", losses[name], axis=None) for name in losses}
print("losses of all replicas:", {name: float(value) for name, value in reduced.items()})
