"""The structure of a value: its nest, dtypes and shapes, without its numbers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def describe(value: Any) -> Any:
    """The structure as plain JSON data.

    Context: any; tensors of a graph have a structure too.

    Args:
      value: tensors, arrays, variables, per-replica values, specs, numbers, or
        nests of them.

    Returns:
      ``"float32[2, None]"`` for an array or tensor; ``"int"`` for a Python
      number; lists and objects for nests. A tuple is ``{"$tuple": [...]}``, a
      namedtuple ``{"$Name": {...}}``, a per-replica value ``{"$replicas":
      [...]}``.
    """
    if value is None:
        return None
    if hasattr(value, "_asdict"):
        return {"$" + type(value).__name__: describe(dict(value._asdict()))}
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {str(key): describe(value[key]) for key in value.keys()}
    if isinstance(value, (list, tuple)):
        parts = [describe(each) for each in value]
        return {"$tuple": parts} if isinstance(value, tuple) else parts
    if "tensorflow" in sys.modules:
        from tpudist.tools.pins import tensors

        components = tensors.replicas(value)
        if components is not None:
            return {"$replicas": [describe(part) for part in components]}
    return _leaf(value)


def _leaf(value: Any) -> str:
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        dtype = getattr(value.dtype, "base_dtype", value.dtype)
        return "%s%s" % (getattr(dtype, "name", dtype), _shape(value.shape))
    return type(value).__name__


def _shape(shape: Any) -> str:
    """A shape as text; ``[...]`` if even the rank is unknown."""
    if getattr(shape, "rank", 0) is None or getattr(shape, "ndims", 0) is None:
        return "[...]"
    sizes = shape.as_list() if hasattr(shape, "as_list") else list(shape)
    return "[%s]" % ", ".join(str(size) for size in sizes)
