"""AUC in a loop of one's own is read each epoch and reset between.

release: 2.3
link: https://github.com/tensorflow/tensorflow/issues/48152
prints: as one metric without a strategy, after each epoch: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
labels = (np.arange(32) % 3 == 0).astype(np.float32)
chances = np.random.RandomState(0).uniform(size=32).astype(np.float32) * 0.7 + 0.3 * labels
with strategy.scope():
    metric = tf.keras.metrics.AUC()
plain = tf.keras.metrics.AUC()


@tf.function
def step(batch):
    strategy.run(metric.update_state, args=batch)


data = strategy.experimental_distribute_dataset(
    tf.data.Dataset.from_tensor_slices((labels, chances)).batch(16)
)
same = []
for _ in range(2):
    for batch in data:
        step(batch)
    plain.update_state(labels, chances)
    same.append(np.allclose(metric.result(), plain.result(), rtol=1e-6))
    metric.reset_states()
    plain.reset_states()
print("as one metric without a strategy, after each epoch:", all(same))
