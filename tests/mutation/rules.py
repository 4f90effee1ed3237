"""Batching rules that are broken in turn, and the cases that have to notice.

Each rule is broken in each way that its outputs allow: replicas swapped, an axis turned,
a replica left out of a sum.
"""

import functools

import numpy as np
import tensorflow as tf

from tests.mutation import breaking
from tests.virtual.vectorize import batching_cases, test_batching
from tpudist.system import cluster
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual.vectorize import rules
from tpudist.virtual.vectorize.values import batched_values, layouts

CORES = test_batching.CORES


def swapped(batched):
    if not isinstance(batched, batched_values.Batch):
        return None
    return batched_values.Batch(CORES, batched.shape, stacked=tf.reverse(batched.stacked(), [0]))


def _turned(batched):
    if not isinstance(batched, batched_values.Batch) or max(batched.shape or [1]) < 2:
        return None
    axis = 1 + int(np.argmax(batched.shape))
    return batched_values.Batch(CORES, batched.shape, stacked=tf.roll(batched.stacked(), 1, axis))


def left_out(batched):
    if not isinstance(batched, batched_values.ReplicaSum):
        return None
    share = tf.cast((CORES - 1.0) / CORES, batched.value.dtype)
    return batched_values.ReplicaSum(batched.value * share)


def _list_swapped(batched):
    if not isinstance(batched, layouts.StackedList):
        return None
    element_options = {
        "element_shape": tf.constant([CORES] + batched.shape),
        "element_dtype": tf.float32,
    }
    stacked = tf.raw_ops.TensorListStack(input_handle=batched.value, **element_options)
    swapped = tf.raw_ops.TensorListFromTensor(
        tensor=tf.reverse(stacked, [1]), element_shape=element_options["element_shape"]
    )
    return batched.with_tensors([swapped])


def _optional_swapped(batched):
    if not isinstance(batched, layouts.Optionals):
        return None
    value = layouts.unpack(batched, *batched.kinds[0])
    return layouts.Optionals.of(CORES, tf.reverse(value, [0]), *batched.kinds[0])


def _one_more(batched):
    if not isinstance(batched, batched_values.Uniform) or not batched.value.dtype.is_integer:
        return None
    return batched_values.Uniform(CORES, batched.value + 1)


WAYS = {
    "replicas swapped": swapped,
    "axis turned": _turned,
    "replica left out": left_out,
    "replicas' lists swapped": _list_swapped,
    "replicas' optionals swapped": _optional_swapped,
    "one more": _one_more,
}


class Rules(breaking.Rules):
    """The cases of tests/virtual/vectorize/batching_cases.py, and what each needs."""

    registries = {"": rules.RULES}
    ways = WAYS

    def __init__(self, only=()):
        self._strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))
        self._values = test_batching.shares(4, 6)
        table = tf.Variable(batching_cases.kernel(6, 2))
        self._cases = dict(batching_cases.CASES)
        self._cases["gather of a table"] = lambda x: tf.gather(table, batching_cases.labels(x))
        super().__init__(only)

    def cases(self):
        """The names of the cases."""
        return list(self._cases) + list(batching_cases.SUMS)

    def check(self, name):
        """Raises if the case does not hold."""
        if name in self._cases:
            test_batching.check(self._strategy, self._cases[name], self._values)
        else:
            run = functools.partial(test_batching.run, self._strategy)
            breaking.check_sum(batching_cases.SUMS[name], self._values, run)
