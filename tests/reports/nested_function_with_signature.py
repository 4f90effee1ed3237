"""The replica function is a tf.function with a signature of unknown sizes, and trains.

release: 2.4
link: https://github.com/tensorflow/tensorflow/issues/46744
prints: embeddings after three steps as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
words = np.random.RandomState(0).randint(0, 10, size=(16, 5))
targets = np.random.RandomState(1).randint(0, 10, size=(16, 5))


def table_and_optimizer():
    start = np.random.RandomState(2).normal(size=(10, 10)).astype(np.float32)
    return tf.Variable(start), tf.keras.optimizers.SGD(0.5)


def train(table, optimizer, words, targets):
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=targets, logits=tf.gather(table, words)
        )
        loss = tf.reduce_sum(losses) / 80
    optimizer.apply_gradients([(tf.convert_to_tensor(tape.gradient(loss, table)), table)])
    return loss


with strategy.scope():
    table, optimizer = table_and_optimizer()

unknown = tf.TensorSpec(shape=(None, None), dtype=tf.int64)


@tf.function(input_signature=[unknown, unknown])
def train_step(words, targets):
    return train(table, optimizer, words, targets)


@tf.function
def step(words, targets):
    return strategy.run(train_step, args=(words, targets))


data = tf.data.Dataset.from_tensor_slices((words, targets)).batch(16).repeat(3)
for batch in strategy.experimental_distribute_dataset(data):
    step(*batch)
alone, its_optimizer = table_and_optimizer()
for _ in range(3):
    train(alone, its_optimizer, words, targets)
print(
    "embeddings after three steps as on one device:",
    np.allclose(table.numpy(), alone.numpy(), rtol=1e-5, atol=1e-6),
)
