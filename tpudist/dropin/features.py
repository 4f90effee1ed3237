"""``tf.train.Int64List`` that takes NumPy's bools, as it did until protobuf 4."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np
import tensorflow as tf


class _OfBools(type):
    """Makes a class stand for TensorFlow's message of the same name."""

    def __call__(cls, value: Iterable[Any] = (), **given: Any) -> Any:
        """Makes a message.

        Args:
          value: integers or bools.
        """
        numbers = [int(each) if isinstance(each, np.bool_) else each for each in value]
        return tf.train.Int64List(value=numbers, **given)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, tf.train.Int64List)

    def __getattr__(cls, name: str) -> object:
        return getattr(tf.train.Int64List, name)


class Int64List(metaclass=_OfBools):
    """A message with integers, for a ``tf.train.Feature``."""
