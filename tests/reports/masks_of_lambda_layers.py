"""Lambda layers make the masks of attention, and a schedule of one's own the learning rate.

release: 2.0
link: https://github.com/tensorflow/tensorflow/issues/33890
prints: weights after two epochs as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
words = np.random.RandomState(0).randint(0, 6, size=(64, 5)).astype(np.int32)


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        return 0.1 * tf.math.minimum(tf.math.rsqrt(step), step / 4.0)

    def get_config(self):
        return {}


def masked(words):
    return tf.cast(tf.math.equal(words, 0), tf.float32)[:, tf.newaxis, :]


def attend(queries, mask):
    scores = tf.matmul(queries, queries, transpose_b=True) - 1e9 * mask
    return tf.matmul(tf.nn.softmax(scores, axis=-1), queries)


def fitted():
    start = tf.keras.initializers.Constant(np.linspace(-1.0, 1.0, 24).reshape(6, 4))
    given = tf.keras.Input([None], dtype="int32")
    mask = tf.keras.layers.Lambda(masked)(given)
    queries = tf.keras.layers.Embedding(6, 4, embeddings_initializer=start)(given)
    hidden = tf.keras.layers.Lambda(lambda pair: attend(*pair))([queries, mask])
    kernel = tf.keras.initializers.Constant(0.1)
    model = tf.keras.Model(given, tf.keras.layers.Dense(6, kernel_initializer=kernel)(hidden))
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.SGD(Warmup()), loss)
    data = tf.data.Dataset.from_tensor_slices((words, words)).batch(16, drop_remainder=True)
    model.fit(data, epochs=2, verbose=0)
    return model.get_weights()


with strategy.scope():
    weights = fitted()
alone = fitted()
print(
    "weights after two epochs as on one device:",
    all(np.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in zip(weights, alone)),
)
