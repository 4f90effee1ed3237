"""The replica function writes summaries by a writer that was made outside.

release: 2.0
link: https://github.com/tensorflow/tensorflow/issues/26980
prints: steps with a summary: [0, 1, 2]
"""

import glob
import os
import tempfile

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
folder = tempfile.mkdtemp()
writer = tf.summary.create_file_writer(folder)


@tf.function
def step(number):
    def replica():
        with writer.as_default():
            tf.summary.write("loss", tf.constant(2.0), step=number)
        return tf.constant(1.0)

    return strategy.experimental_run_v2(replica)


for number in range(3):
    step(tf.constant(number, tf.int64))
writer.flush()
(path,) = glob.glob(os.path.join(folder, "*"))
events = [event for event in tf.compat.v1.train.summary_iterator(path) if event.summary.value]
print("steps with a summary:", sorted(event.step for event in events))
