"""2.0: a dataset of numpy arrays, and isinstance of the strategy's class."""

import numpy as np
import tensorflow as tf


def describe(strategy):
    if isinstance(strategy, tf.distribute.experimental.TPUStrategy):
        return "TPU"
    return "else"


resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:2")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
dataset = strategy.experimental_make_numpy_dataset(np.arange(6.0)).batch(2)
print(describe(strategy), [each.numpy().tolist() for each in dataset])
