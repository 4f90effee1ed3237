"""``tf.data.Options`` of 1.14 to 2.5, with hints of its optimizer that TensorFlow has no longer.

They changed the speed of a dataset, not its elements; where TensorFlow has one still, it is asked.
"""

from __future__ import annotations

import types
from typing import Any

import tensorflow as tf

from tpudist import surfaces
from tpudist.tfcompat import versions

#: 1.13 has other options, and none of these hints.
_OPTIMIZATIONS: Any = tf.data.experimental.OptimizationOptions if versions.HAS_COMPAT_V2 else object


def _hint(name: str) -> property:
    """A member that takes a value and does nothing with it; a hint of its own is read as one."""

    def read(options: Any) -> Any:
        del options
        return types.SimpleNamespace() if name == "map_vectorization" else None

    def write(options: Any, value: Any) -> None:
        del options, value

    return property(read, write)


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

    def merge(self, options: Any) -> Any:
        """As TensorFlow's, whose options merge with those of their own class."""
        return tf.data.Options().merge(self).merge(options)
