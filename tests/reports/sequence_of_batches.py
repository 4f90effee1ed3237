"""fit_generator is given a keras.utils.Sequence, for a model in a strategy's scope.

release: 2.0
link: https://github.com/tensorflow/tensorflow/issues/33725
prints: weights as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(48, 3)).astype(np.float32)


class Batches(tf.keras.utils.Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        batch = rows[16 * index : 16 * index + 16]
        return batch, batch[:, :1]


def train():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.set_weights([np.ones([3, 1]), np.zeros([1])])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    model.fit_generator(Batches(), epochs=2, shuffle=False, verbose=0)
    return model.get_weights()


with strategy.scope():
    found = train()
same = all(np.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in zip(found, train()))
print("weights as on one device:", same)
