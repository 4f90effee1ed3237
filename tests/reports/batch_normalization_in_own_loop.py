"""A loop of one's own trains a model with batch normalization and returns losses.

release: 2.5
link: https://github.com/tensorflow/tensorflow/issues/52986
prints: loss, weights and the mean of the replicas' averages as numpy: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(32, 3)).astype(np.float32)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(input_shape=(3,))])
    optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def step(batch):
    def replica(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(model(batch, training=True) - 1.0)) / 96
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return strategy.reduce("SUM", strategy.run(replica, args=(batch,)), axis=None)


data = tf.data.Dataset.from_tensor_slices(rows).batch(32)
for batch in strategy.experimental_distribute_dataset(data):
    loss = step(batch)
parts = rows.reshape(8, 4, 3)
mean, variance = parts.mean(axis=1, keepdims=True), parts.var(axis=1, keepdims=True)
normal = (parts - mean) / np.sqrt(variance + 1e-3)
expected = [
    1 - 0.1 * np.sum(2 * (normal - 1) * normal, axis=(0, 1)) / 96,
    -0.1 * np.sum(2 * (normal - 1), axis=(0, 1)) / 96,
    0.01 * mean.mean(axis=(0, 1)),
    0.99 + 0.01 * variance.mean(axis=(0, 1)),
]
same = all(np.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in zip(model.get_weights(), expected))
same = same and np.allclose(loss, np.sum((normal - 1) ** 2) / 96, rtol=1e-5)
print("loss, weights and the mean of the replicas' averages as numpy:", same)
