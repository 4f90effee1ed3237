"""TensorFlow's values, opened: what they hold as numpy, lists and dicts.

Imported only where TensorFlow has been imported already.
"""

from __future__ import annotations

from typing import Any, NoReturn

import tensorflow as tf

from tpudist.errors import PinError
from tpudist.tfcompat import distributed


def opened(value: object, name: str) -> object:
    """The value inside a TensorFlow object; `value` itself if it is none. Context: eager.

    Of a mirrored value that is the first component. A tensor of a graph raises a PinError.
    """
    if distributed.is_mirrored(value) and not distributed.is_variable(value):
        return distributed.components(value)[0]
    if isinstance(value, tf.RaggedTensor):
        return value.to_list() if tf.executing_eagerly() else _refuse(value, name)
    if isinstance(value, tf.SparseTensor):
        return {"indices": value.indices, "values": value.values, "shape": value.dense_shape}
    if isinstance(value, distributed.IndexedSlices):
        return {"indices": value.indices, "values": value.values}
    if distributed.is_variable(value) or isinstance(value, tf.Variable) or tf.is_tensor(value):
        if not tf.executing_eagerly() or getattr(value, "graph", None) is not None:
            _refuse(value, name)
        return tf.identity(value).numpy()
    return value


def replicas(value: object) -> list[Any] | None:
    """The components of a per-replica value, a list; None of any other value."""
    is_other = distributed.is_variable(value) or distributed.is_mirrored(value)
    if distributed.is_distributed(value) and not is_other:
        return list(distributed.components(value))
    return None


def _refuse(value: object, name: str) -> NoReturn:
    raise PinError(
        "pin %r was given %s, a tensor of a graph" % (name, getattr(value, "name", value)),
        "it has a value only when it is run",
        "pin.check(%r, session.run(...)) in a graph; in a tf.function return the tensor "
        "and check it outside" % name,
    )
