"""Gradients are accumulated over slices of a batch that is a dictionary.

release: 2.3
link: https://github.com/huggingface/transformers/issues/6479
prints: weights after two slices as after the whole batch: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(32, 3)).astype(np.float32)
with strategy.scope():
    weights = tf.Variable([1.0, 2.0, 3.0])
    optimizer = tf.keras.optimizers.SGD(0.5)
    collected = tf.Variable(
        tf.zeros([3]),
        trainable=False,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
    )


@tf.function
def step(features):
    def replica(features):
        for _ in tf.range(2):
            part = {name: value[:2] for name, value in features.items()}
            with tf.GradientTape() as tape:
                error = tf.linalg.matvec(part["x"], weights) - part["y"]
                loss = tf.reduce_sum(tf.square(error)) / 32
            collected.assign_add(tape.gradient(loss, weights))
            features = {
                name: tf.concat([value[2:], part[name]], axis=0) for name, value in features.items()
            }
        optimizer.apply_gradients([(collected.read_value(), weights)])

    strategy.run(replica, args=(features,))


targets = rows.sum(axis=1)
data = tf.data.Dataset.from_tensor_slices({"x": rows, "y": targets}).batch(32)
for features in strategy.experimental_distribute_dataset(data):
    step(features)
start = np.array([1.0, 2.0, 3.0])
expected = start - rows.T @ (rows @ start - targets) / 32
same = np.allclose(weights, expected, rtol=1e-4)
print("weights after two slices as after the whole batch:", same)
