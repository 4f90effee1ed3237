"""Nests of values, under one name per thing (``tf.nest`` came with 1.14)."""

import tensorflow as tf
from tensorflow.python.framework import tensor_util
from tensorflow.python.util import nest

from tpudist.tfcompat import versions

flatten = nest.flatten
flatten_with_paths = nest.flatten_with_joined_string_paths
map_structure = nest.map_structure
pack_sequence_as = nest.pack_sequence_as
is_nested = tf.nest.is_nested if versions.HAS_NEST else nest.is_sequence
is_tensor = tf.is_tensor if versions.HAS_NEST else tensor_util.is_tensor
