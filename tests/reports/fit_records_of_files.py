"""Keras trains on records of files, read by a dataset that was made outside of the scope.

release: 2.0
link: https://github.com/tensorflow/tensorflow/issues/34391
prints: weights after two epochs as on one device: True
"""

import os
import tempfile

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
folder = tempfile.mkdtemp()
rows = np.random.RandomState(0).normal(size=(48, 3)).astype(np.float32)
for number in range(2):
    with tf.io.TFRecordWriter(os.path.join(folder, "%d.tfrecord" % number)) as writer:
        for row in rows[number::2]:
            writer.write(tf.io.serialize_tensor(row).numpy())


def parsed(record):
    row = tf.ensure_shape(tf.io.parse_tensor(record, tf.float32), [3])
    return row, tf.reduce_sum(row, keepdims=True)


def train():
    files = tf.data.Dataset.list_files(os.path.join(folder, "*"), shuffle=False)
    data = files.interleave(tf.data.TFRecordDataset, cycle_length=2).map(parsed)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.set_weights([np.ones([3, 1]), np.ones([1])])
    model.compile(tf.keras.optimizers.SGD(0.1), loss="mse")
    model.fit(data.batch(16, drop_remainder=True), epochs=2, verbose=0)
    return model.get_weights()


with strategy.scope():
    found = train()
same = all(np.allclose(*pair, rtol=1e-4) for pair in zip(found, train()))
print("weights after two epochs as on one device:", same)
