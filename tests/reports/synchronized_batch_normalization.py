"""SyncBatchNormalization while the batches of the replicas differ much.

release: 2.2
link: https://github.com/tensorflow/tensorflow/issues/41980
prints: outputs and moving averages of the whole batch: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(32, 4)) + np.arange(32)[:, None]
rows = rows.astype(np.float32)
with strategy.scope():
    layer = tf.keras.layers.experimental.SyncBatchNormalization()
    layer.build([None, 4])


@tf.function
def step(batch):
    return strategy.run(layer, args=(batch,), kwargs=dict(training=True))


data = tf.data.Dataset.from_tensor_slices(rows).batch(32)
(batch,) = strategy.experimental_distribute_dataset(data)
found = np.concatenate(strategy.experimental_local_results(step(batch)))
mean, variance = rows.mean(axis=0), rows.var(axis=0)
same = np.allclose(found, (rows - mean) / np.sqrt(variance + 1e-3), atol=1e-3)
averages = np.allclose(layer.moving_mean, mean * 0.01, rtol=1e-4) and np.allclose(
    layer.moving_variance, 0.99 + variance * 0.01, rtol=1e-3
)
print("outputs and moving averages of the whole batch:", same and averages)
