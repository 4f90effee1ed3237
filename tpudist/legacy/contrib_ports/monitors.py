"""Keeps the one function of ``tf.contrib.learn.monitors`` that code without monitors calls.

Reference: TensorFlow 1.15, tensorflow/contrib/learn/python/learn/monitors.py
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tpudist.errors import ArgumentTypeError


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: object) -> list[Any]:
    """Returns a list of hooks as it is; refuses monitors, which it replaced (r1.15).

    Args:
      monitors_or_hooks: hooks, or None.
      estimator: the Estimator that they are for.

    Raises:
      ArgumentTypeError: (a TypeError) one is a monitor, or anything else that is no hook.
    """
    hooks = list(monitors_or_hooks or [])
    for hook in hooks:
        if not isinstance(hook, tf.compat.v1.train.SessionRunHook):
            raise ArgumentTypeError(
                "%r among the hooks of %r" % (hook, estimator),
                "monitors ended with tf.contrib.learn, and nothing runs them any more",
                "a tf.compat.v1.train.SessionRunHook",
            )
    return hooks
