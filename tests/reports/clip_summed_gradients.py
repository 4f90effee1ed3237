"""Gradients are to be clipped after the replicas have summed them, not before.

What 2.2 brought for it: optimizers that are told that the gradients are summed.

release: 1.13
link: https://github.com/tensorflow/tensorflow/issues/25806
prints: weights as clipped on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)
with strategy.scope():
    weights = tf.Variable([1.0, 2.0, 3.0])
    optimizer = tf.keras.optimizers.SGD(0.5)


@tf.function
def step(batch):
    def replica(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.linalg.matvec(batch, weights))) / 16
        gradients = tape.gradient(loss, [weights])
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        optimizer.apply_gradients(zip(gradients, [weights]), experimental_aggregate_gradients=False)

    strategy.run(replica, args=(batch,))


for batch in strategy.experimental_distribute_dataset(
    tf.data.Dataset.from_tensor_slices(rows).batch(16)
):
    step(batch)
start = np.array([1.0, 2.0, 3.0])
gradient = 2 * rows.T @ (rows @ start) / 16
expected = start - 0.5 * gradient / np.linalg.norm(gradient)
print("weights as clipped on one device:", np.allclose(weights, expected, rtol=1e-5))
