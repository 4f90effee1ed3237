"""In a graph, weights of a file are loaded before the model in the scope is compiled.

release: 1.14
link: https://github.com/tensorflow/tensorflow/issues/29896
fails: Instead: model.load_weights(PATH) of a model that was compiled before
"""

import os
import tempfile

import numpy as np
import tensorflow as tf

rows = np.random.RandomState(0).normal(size=(32, 3)).astype(np.float32)


def made():
    model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(input_shape=(3,))])
    model.add(tf.keras.layers.Dense(1))
    return model


path = os.path.join(tempfile.mkdtemp(), "weights.h5")
model = made()
weights = [np.full(weight.shape, 0.5 + i) for i, weight in enumerate(model.get_weights())]
model.set_weights(weights)
model.save_weights(path)
tf.keras.backend.clear_session()
resolver = tf.contrib.cluster_resolver.TPUClusterResolver(tpu="")
tf.contrib.distribute.initialize_tpu_system(resolver)
strategy = tf.contrib.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = made()
    model.load_weights(path)
    model.compile(tf.keras.optimizers.SGD(0.0), loss="mse")
data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).repeat()
data = data.batch(32, drop_remainder=True)
model.fit(data, steps_per_epoch=1, epochs=1, verbose=0)
print("trained from the weights of the file")
