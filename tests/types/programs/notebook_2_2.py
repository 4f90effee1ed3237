"""Cells of a notebook of 2020: Keras fit under a strategy, flowers from records."""

import math
import re

import numpy as np

from tpudist.v2_2 import tensorflow as tf
from tpudist.v2_2.tensorflow import keras
from tpudist.v2_2.tensorflow.keras import backend as K
from tpudist.v2_2.tensorflow.keras.applications import DenseNet201
from tpudist.v2_2.tensorflow.keras.layers import Dense, GlobalAveragePooling2D
from tpudist.v2_2.tensorflow.keras.preprocessing.image import ImageDataGenerator
from tpudist.v2_2.tensorflow.keras.utils import to_categorical

# In [1]:
AUTO = tf.data.experimental.AUTOTUNE
try:
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
    print("Running on TPU ", tpu.master())
    tf.config.experimental_connect_to_cluster(tpu)
    tf.tpu.experimental.initialize_tpu_system(tpu)
    strategy = tf.distribute.experimental.TPUStrategy(tpu)
except ValueError:
    strategy = tf.distribute.get_strategy()
print("REPLICAS: ", strategy.num_replicas_in_sync)

# In [2]:
BATCH_SIZE = 16 * strategy.num_replicas_in_sync
IMAGE_SIZE = [192, 192]
FILENAMES = tf.io.gfile.glob("gs://flowers/*.tfrec")


def decode_image(image_data):
    image = tf.image.decode_jpeg(image_data, channels=3)
    image = tf.cast(image, tf.float32) / 255.0
    return tf.reshape(image, [*IMAGE_SIZE, 3])


def read_labeled_tfrecord(example):
    example = tf.io.parse_single_example(
        example,
        {
            "image": tf.io.FixedLenFeature([], tf.string),
            "class": tf.io.FixedLenFeature([], tf.int64),
        },
    )
    return decode_image(example["image"]), tf.cast(example["class"], tf.int32)


def load_dataset(filenames, ordered=False):
    ignore_order = tf.data.Options()
    if not ordered:
        ignore_order.experimental_deterministic = False
    dataset = tf.data.TFRecordDataset(filenames, num_parallel_reads=AUTO)
    dataset = dataset.with_options(ignore_order)
    return dataset.map(read_labeled_tfrecord, num_parallel_calls=AUTO)


def data_augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_saturation(image, 0, 2)
    return image, label


def count_data_items(filenames):
    return np.sum([int(re.findall(r"-([0-9]*)\.", name)[0]) for name in filenames])


def get_training_dataset():
    dataset = load_dataset(FILENAMES).map(data_augment, num_parallel_calls=AUTO)
    return dataset.repeat().shuffle(2048).batch(BATCH_SIZE).prefetch(AUTO)


# In [3]:
def lrfn(epoch):
    return 1e-5 + 1e-4 * math.exp(-epoch)


lr_callback = tf.keras.callbacks.LearningRateScheduler(lrfn, verbose=True)


class Printed(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, (logs or {})["loss"], K.get_value(self.model.optimizer.lr))


with strategy.scope():
    base = DenseNet201(weights="imagenet", include_top=False, input_shape=[*IMAGE_SIZE, 3])
    base.trainable = True
    model = tf.keras.Sequential(
        [base, GlobalAveragePooling2D(), Dense(104, activation="softmax", dtype="float32")]
    )
model.compile(
    optimizer="adam",
    loss="sparse_categorical_crossentropy",
    metrics=["sparse_categorical_accuracy", tf.keras.metrics.SparseTopKCategoricalAccuracy(5)],
)
model.summary()
history = model.fit(
    get_training_dataset(),
    steps_per_epoch=int(count_data_items(FILENAMES)) // BATCH_SIZE,
    epochs=12,
    callbacks=[lr_callback, Printed(), keras.callbacks.ModelCheckpoint("model.h5")],
)
print(history.history["val_loss"][-1], to_categorical([1, 2]), ImageDataGenerator(rotation_range=5))

# In [4]:
inputs = keras.Input(shape=(32,), name="words")
x = keras.layers.Embedding(100, 16)(inputs)
x = keras.layers.Bidirectional(keras.layers.LSTM(8))(x)
functional = keras.Model(inputs, keras.layers.Dense(1)(x))
functional.compile(
    keras.optimizers.Adam(lr=1e-3), keras.losses.BinaryCrossentropy(from_logits=True)
)
weights = functional.get_weights()
functional.load_weights(tf.train.latest_checkpoint("."))
print(functional.evaluate(np.zeros([8, 32]), np.zeros([8, 1])), len(weights), model.layers[-1].name)
