"""A loop of one's own adds the regularization losses, which each replica has in full.

release: 2.4
link: https://github.com/tensorflow/tensorflow/issues/48875
prints: weights with scaled regularization as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)
with strategy.scope():
    regularizer = tf.keras.regularizers.l2(0.1)
    dense = tf.keras.layers.Dense(1, use_bias=False, kernel_regularizer=regularizer)
    dense.build([None, 3])
    dense.set_weights([np.ones([3, 1])])
    optimizer = tf.keras.optimizers.SGD(0.5)


@tf.function
def step(batch):
    def replica(batch):
        with tf.GradientTape() as tape:
            each = tf.reduce_sum(tf.square(dense(batch)), axis=1)
            loss = tf.nn.compute_average_loss(each, global_batch_size=16)
            loss += tf.nn.scale_regularization_loss(dense.losses)
        gradients = tape.gradient(loss, dense.trainable_variables)
        optimizer.apply_gradients(zip(gradients, dense.trainable_variables))
        return loss

    return strategy.reduce("SUM", strategy.run(replica, args=(batch,)), axis=None)


data = tf.data.Dataset.from_tensor_slices(rows).batch(16)
for batch in strategy.experimental_distribute_dataset(data):
    loss = step(batch)
kernel = np.ones([3, 1])
expected_loss = np.sum((rows @ kernel) ** 2) / 16 + 0.1 * 3
kernel = kernel - 0.5 * (2 * rows.T @ (rows @ kernel) / 16 + 0.2 * kernel)
same = np.allclose(dense.kernel, kernel, rtol=1e-4) and np.allclose(loss, expected_loss)
print("weights with scaled regularization as on one device:", same)
