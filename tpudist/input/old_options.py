"""Options of input pipelines under the names of their time.

``tf.data.Options`` of 1.14 to 2.5 have hints of its optimizer that TensorFlow has no longer.

The hints changed the speed of a dataset, not its elements. Those that the installed TensorFlow has
still are passed on to it, the others are ignored.
"""

from __future__ import annotations

import collections
import types
from typing import Any

import tensorflow as tf

from tpudist import surfaces
from tpudist.tfcompat import versions

#: 1.13 has other options, and none of these hints.
_OPTIMIZATIONS: Any = tf.data.experimental.OptimizationOptions if versions.HAS_COMPAT_V2 else object


def _hint(name: str) -> property:
    """A property that ignores what it is set to."""
    has_members = name == "map_vectorization"  # they are set: map_vectorization.enabled
    return property(
        lambda options: types.SimpleNamespace() if has_members else None,
        lambda options, value: None,
    )


class OptimizationOptions(_OPTIMIZATIONS):
    """``tf.data.experimental.OptimizationOptions`` that takes all hints of 1.14 to 2.5."""


for _name in surfaces.GONE_DATA_OPTIONS:
    if not hasattr(OptimizationOptions, _name):
        setattr(OptimizationOptions, _name, _hint(_name))


class Options(tf.data.Options):
    """``tf.data.Options`` that takes all hints of 1.14 to 2.5."""

    def __init__(self) -> None:
        super().__init__()
        if versions.HAS_COMPAT_V2:
            self.experimental_optimization = OptimizationOptions()

    def merge(self, options: object) -> Options:
        """As TensorFlow's, whose options merge with those of their own class."""
        return tf.data.Options().merge(self).merge(options)


_FETCH = "experimental_fetch_to_device" if versions.FETCHES else "experimental_prefetch_to_device"
_INPUT_OPTIONS: Any = (
    tf.distribute.InputOptions
    if versions.HAS_PUBLIC_INPUT_OPTIONS
    else collections.namedtuple("InputOptions", [_FETCH], defaults=[True])
)


class InputOptions(_INPUT_OPTIONS):
    """``tf.distribute.InputOptions`` of 2.4, and of later ones, on every release.

    Args:
      *args, **kwargs: those of TensorFlow's. `experimental_prefetch_to_device`, of 2.4, is
        `experimental_fetch_to_device` from 2.5 on: either is taken, and read.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> InputOptions:
        for name in ("experimental_prefetch_to_device", "experimental_fetch_to_device"):
            if name in kwargs:
                kwargs[_FETCH] = kwargs.pop(name)
        return super().__new__(cls, *args, **kwargs)

    experimental_prefetch_to_device = property(lambda options: options[0])
    experimental_fetch_to_device = property(lambda options: options[0])
