"""Ops that legacy code pins to a device of a virtual TPU.

The cores and hosts of a virtual TPU are names. A graph that is built in the
strategy's scope sends what is pinned to such a name to the real device.
"""

import contextlib

import tensorflow as tf

from tpudist.core import strategies
from tpudist.tfcompat import versions


@contextlib.contextmanager
def scope_if_needed(strategy):
    """The strategy's scope, where TensorFlow does not enter it itself."""
    if versions.WORKS_OUTSIDE_SCOPE:
        yield
    else:
        with scope(strategy):
            yield


@contextlib.contextmanager
def scope(strategy):
    """The strategy's scope, in which its devices may be named.

    Args:
      strategy: a strategy.
    """
    native = strategies.native_call(strategy, "scope")
    if (
        tf.executing_eagerly()
        or not strategies.is_virtual(strategy)
        or (tf.distribute.has_strategy())
    ):
        with native as entered:
            yield entered
        return
    graph = tf.compat.v1.get_default_graph()
    with graph.device(strategy.extended.rename_device), native as entered:
        yield entered
