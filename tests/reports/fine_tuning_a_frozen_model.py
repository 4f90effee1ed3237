"""A frozen model with batch normalization is fine-tuned by fit, and evaluated.

release: 2.16
link: https://github.com/tensorflow/tensorflow/issues/67301
prints: history and evaluation as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
images = np.random.RandomState(0).normal(size=(64, 8, 8, 3)).astype(np.float32)
labels = np.random.RandomState(1).randint(0, 3, size=64).astype(np.int32)


def trained():
    tf.keras.utils.set_random_seed(3)
    base = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(4, 3, input_shape=(8, 8, 3)),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.GlobalAveragePooling2D(),
        ]
    )
    base.trainable = False
    model = tf.keras.Sequential(
        [base, tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(3)]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(1e-4), loss, metrics=["accuracy"])
    history = model.fit(images, labels, batch_size=16, epochs=5, shuffle=False, verbose=0)
    return history.history["loss"] + model.evaluate(images, labels, batch_size=16, verbose=0)


with strategy.scope():
    found = trained()
print("history and evaluation as on one device:", np.allclose(found, trained(), rtol=1e-4))
