"""The data of the package."""

import typing

from tpudist.v2_0 import tensorflow as tf

Batch = typing.Tuple[tf.Tensor, tf.Tensor]


def preprocess(image: tf.Tensor, label: tf.Tensor) -> Batch:
    return tf.image.resize(tf.cast(image, tf.float32), [32, 32]), label


def dataset(batch_size: int, is_training: bool = True) -> tf.data.Dataset:
    data = tf.data.Dataset.from_tensors((tf.zeros([8, 8, 3], tf.uint8), tf.constant(1)))
    if is_training:
        data = data.repeat()
    return data.map(preprocess).batch(batch_size, drop_remainder=True)
