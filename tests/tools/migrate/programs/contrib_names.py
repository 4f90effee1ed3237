"""1.12: an input pipeline and signals with names of contrib, in a Session."""

import tensorflow as tf
from tensorflow.contrib import signal as contrib_signal
from tensorflow.contrib.framework import get_or_create_global_step

dataset = tf.data.Dataset.range(8).apply(
    tf.contrib.data.map_and_batch(lambda i: tf.cast(i, tf.float32), batch_size=4)
)
dataset = dataset.apply(tf.contrib.data.shuffle_and_repeat(1, 2, seed=3))
batch = dataset.make_one_shot_iterator().get_next()
frames = contrib_signal.frame(batch, 2, 1)
static = tf.contrib.util.constant_value(tf.constant([1, 2]))
step = tf.assign_add(get_or_create_global_step(), 2)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print([session.run(frames).sum() for _ in range(3)], static.tolist(), session.run(step))
