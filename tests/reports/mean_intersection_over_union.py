"""MeanIoU is a metric of compile, and of a loop of one's own.

release: 2.3
link: https://github.com/tensorflow/tensorflow/issues/43810
prints: both as numpy: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).randint(3, size=(16, 5)).astype(np.float32)
targets = np.random.RandomState(1).randint(3, size=(16, 5)).astype(np.float32)
with strategy.scope():
    inputs = tf.keras.Input([5])
    model = tf.keras.Model(inputs, tf.keras.layers.Lambda(lambda x: 1.0 * x)(inputs))
    model.compile(loss="mse", metrics=[tf.keras.metrics.MeanIoU(3, name="iou")])
    metric = tf.keras.metrics.MeanIoU(3)
data = tf.data.Dataset.from_tensor_slices((rows, targets)).batch(16)
found = [model.evaluate(data, verbose=0)[1]]


@tf.function
def step(batch):
    strategy.run(lambda rows, targets: metric.update_state(targets, rows), args=batch)


for batch in strategy.experimental_distribute_dataset(data):
    step(batch)
found.append(metric.result().numpy())
both = [np.sum((rows == i) & (targets == i)) for i in range(3)]
either = [np.sum((rows == i) | (targets == i)) for i in range(3)]
print("both as numpy:", np.allclose(found, np.mean(np.divide(both, either)), rtol=1e-6))
