"""fit is given weights of classes, with arrays and with a dataset.

release: 2.1
link: https://github.com/tensorflow/tensorflow/issues/37575
prints: weighted losses as numpy: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
rows = np.random.RandomState(0).normal(size=(32, 3)).astype(np.float32)
labels = np.arange(32) % 4 // 3
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), activation="softmax")])
    model.set_weights([np.arange(6.0).reshape(3, 2) / 6, np.zeros([2])])
    model.compile(tf.keras.optimizers.SGD(0.0), "sparse_categorical_crossentropy")
weights = {0: 1.0, 1: 5.0}
losses = []
dataset = tf.data.Dataset.from_tensor_slices((rows, labels)).batch(16)
for data in [dict(x=rows, y=labels, batch_size=16), dict(x=dataset)]:
    history = model.fit(**data, class_weight=weights, shuffle=False, verbose=0)
    losses.append(history.history["loss"][0])
logits = rows @ (np.arange(6.0).reshape(3, 2) / 6)
chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
each = -np.log(chances[np.arange(32), labels])
expected = np.mean(each * np.where(labels == 1, 5.0, 1.0))
print("weighted losses as numpy:", np.allclose(losses, expected, rtol=1e-5))
