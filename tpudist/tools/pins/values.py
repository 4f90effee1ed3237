"""Encodes values, or their structure, as plain JSON for a pin file.

==========================  ===================================================
numbers, text, None         themselves; nan and infinities ``{"$float": "nan"}``
lists, tuples, arrays       lists; a tensor is the array it holds
float32 and narrower        the shortest decimal that is that float (0.1)
dicts, namedtuples          objects; ``{"$items": [[key, value], ...]}`` if a
                            key is no text
arrays of more than `LARGE` ``{"$summary": ...}``: shape, count of nan and of
elements                    infinities, mean, std, min, max, rms of the others,
                            and `SAMPLES` of them at even distances
per-replica values          ``{"$replicas": [one per replica]}``
sparse tensors              ``{"indices": ..., "values": ...}``
==========================  ===================================================

A change of a large array that leaves all of its summary within tolerance is
not seen. dtypes are not part of a value; ``check_structure`` records those.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from tpudist.errors import PinError

if TYPE_CHECKING:
    import numpy as np

#: Arrays of more elements are summarized.
LARGE = 1000

#: How many elements of a large array are kept.
SAMPLES = 32


def encode(value: object, name: str = "value") -> object:
    """A value as plain JSON data; see the module. The pin's name is for the error.

    Context: eager, or outside of TensorFlow; a graph's tensors have no value.

    Raises:
      PinError: there is no value to record in it.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _float(float(value))
    if isinstance(value, complex):
        return {"$complex": [_float(value.real), _float(value.imag)]}
    if isinstance(value, bytes):
        return _bytes(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        pairs = [(key, encode(value[key], name)) for key in value.keys()]  # noqa: SIM118
        if all(isinstance(key, str) and not key.startswith("$") for key, _ in pairs):
            return dict(pairs)
        items = ([encode(key, name), item] for key, item in pairs)
        return {"$items": sorted(items, key=repr)}
    if isinstance(value, (list, tuple)):
        return [encode(each, name) for each in value]
    return _array_like(value, name)


def _float(value: float) -> object:
    return value if math.isfinite(value) else {"$float": str(value)}


def _bytes(value: bytes) -> object:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"$bytes": value.hex()}


def _array_like(value: object, name: str) -> object:
    if type(value).__module__ == "numpy":
        return _array(value, name)
    if "tensorflow" in sys.modules:
        from tpudist.tools.pins import tensors

        parts = tensors.replicas(value)
        if parts is not None:
            return {"$replicas": [encode(part, name) for part in parts]}
        opened = tensors.opened(value, name)
        if opened is not value:
            return encode(opened, name)
    if hasattr(value, "__array__"):
        return _array(value, name)
    raise PinError(
        "pin %r was given a %s: %.80r" % (name, type(value).__name__, value),
        "a pin file holds numbers, text, arrays, and lists and dicts of them",
        "what you want to keep of it, such as float(x) or x.history",
    )


def _array(value: object, name: str) -> object:
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind in "OSUM" or array.dtype.kind == "m":
        if array.dtype.kind in "Mm":
            array = array.astype(str)
        return encode(array.tolist(), name)
    if array.size > LARGE:
        return {"$summary": _summary(array)}
    return _numbers(array.tolist() if array.dtype.kind in "biuc" else _floats(array))


def _floats(array: np.ndarray[Any, Any]) -> object:
    """Nested lists of Python floats: the shortest decimals that are those floats."""
    if array.dtype == "float64" or array.dtype.itemsize > 8:
        return array.astype("float64").tolist()
    if array.ndim == 0:
        return float(str(array[()]))
    return [_floats(each) for each in array]


def _numbers(nested: object) -> object:
    if isinstance(nested, list):
        return [_numbers(each) for each in nested]
    return encode(nested)


def _summary(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Describes a numeric array; complex ones by their magnitude."""
    import numpy as np

    flat = (np.abs(array) if array.dtype.kind == "c" else array).reshape(-1)
    flat = flat.astype(np.float64)
    finite = flat[np.isfinite(flat)]
    encoded = {
        "shape": list(array.shape),
        "nan": int(np.isnan(flat).sum()),
        "inf": int((flat == np.inf).sum()),
        "-inf": int((flat == -np.inf).sum()),
        "samples": [
            _float(float(flat[i])) for i in np.linspace(0, flat.size - 1, SAMPLES).astype(int)
        ],
    }
    if finite.size:
        encoded.update(
            mean=float(finite.mean()),
            std=float(finite.std()),
            min=float(finite.min()),
            max=float(finite.max()),
            rms=float(np.sqrt(np.square(finite).mean())),
        )
    return encoded


def decode(data: object) -> object:
    """Plain JSON data with floats and bytes as Python has them; other ``$`` objects stay dicts."""
    if isinstance(data, list):
        return [decode(each) for each in data]
    if not isinstance(data, dict):
        return data
    if set(data) == {"$float"}:
        return float(data["$float"])
    if set(data) == {"$complex"}:
        parts: Any = decode(data["$complex"])
        return complex(*parts)
    if set(data) == {"$bytes"}:
        return bytes.fromhex(data["$bytes"])
    return {key: decode(each) for key, each in data.items()}


def structure(value: object) -> object:
    """The structure as plain JSON data.

    It is ``"float32[2, None]"`` for an array or tensor (of a graph too), ``"int"`` for a Python
    number; lists and objects for nests. A tuple is ``{"$tuple": [...]}``, a namedtuple ``{"$Name":
    {...}}``, a per-replica value ``{"$replicas": [...]}``.
    """
    if value is None:
        return None
    if hasattr(value, "_asdict"):
        return {"$" + type(value).__name__: structure(dict(value._asdict()))}
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {str(key): structure(value[key]) for key in value.keys()}  # noqa: SIM118
    if isinstance(value, (list, tuple)):
        parts = [structure(each) for each in value]
        return {"$tuple": parts} if isinstance(value, tuple) else parts
    if "tensorflow" in sys.modules:
        from tpudist.tools.pins import tensors

        components = tensors.replicas(value)
        if components is not None:
            return {"$replicas": [structure(part) for part in components]}
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return type(value).__name__
    dtype, shape = getattr(value.dtype, "base_dtype", value.dtype), value.shape
    sizes = "..."  # even the rank is unknown
    if getattr(shape, "rank", 0) is not None and getattr(shape, "ndims", 0) is not None:
        listed = shape.as_list() if hasattr(shape, "as_list") else shape
        sizes = ", ".join(map(str, listed))
    return "%s[%s]" % (getattr(dtype, "name", dtype), sizes)
