"""Parses the text of ``--args``: shapes and dtypes, as XLA writes them.

``f32[128,28,28,1],s32[128]`` are two arguments of a replica. ``x=f32[8]`` is
one by name, ``(f32[8],s32[8])`` a tuple and ``{image:f32[8],label:s32[8]}`` a
dictionary. Dtypes have XLA's names or numpy's. ``n=100``, ``0.5``, ``true`` and
``'text'`` are Python values, which the step gets as they are.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Iterable

from tpudist.errors import ArgumentError
from tpudist.surfaces.eras import walks

#: XLA's names of dtypes.
_XLA = {
    "pred": "bool",
    "s4": "int4",
    "s8": "int8",
    "s16": "int16",
    "s32": "int32",
    "s64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}
_NAMES = dict(_XLA, **{name: name for name in _XLA.values()})
_BOOLEANS = {"true": True, "false": False}
_PLAIN = (bool, int, float, complex, str)

#: What Python would read otherwise: a tuple of one, a name that is a keyword, a scalar's shape.
_NOT_PYTHON = re.compile(r"'[^']*'|\(|\w+(?=\s*[:=])|\[\s*\]")
_TUPLE = "_"


class Spec:
    """The shape and dtype of one tensor.

    Args:
      dtype: numpy's name of it, or "bfloat16".
      shape: a tuple of ints.
    """

    def __init__(self, dtype: str, shape: Iterable[int]) -> None:
        self.dtype = dtype
        self.shape = tuple(shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and ((self.dtype, self.shape) == (other.dtype, other.shape))

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __repr__(self) -> str:
        return "%s[%s]" % (self.dtype, ",".join(map(str, self.shape)))


def parse(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Parses the arguments that a text describes, as those of a call in Python.

    Args:
      text: see the module's docstring; "" for no arguments.

    Returns:
      ``(args, kwargs)``: a tuple and a dictionary of nests of `Spec` and plain values.

    Raises:
      ArgumentError: (a ValueError) the text describes no arguments.
    """
    try:
        call: Any = ast.parse(
            "%s(%s)" % (_TUPLE, _NOT_PYTHON.sub(_as_python, text)), mode="eval"
        ).body
        if not _is_tuple(call):
            raise ValueError("a bracket has no partner")
        names = [each.arg or "" for each in call.keywords]
        return (
            tuple(map(_value, call.args)),
            dict(zip(_distinct(names), (_value(each.value) for each in call.keywords))),
        )
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ArgumentError(
            "--args %r" % text,
            str(getattr(error, "msg", error)),
            "--args 'f32[128,28,28,1],s32[128],n=100', the shapes of one replica, and "
            "values; dtypes are %s" % ", ".join(sorted(_XLA)),
        ) from None


def _as_python(found: re.Match[str]) -> str:
    piece = found.group()
    if piece[0] == "[":
        return "[()]"
    return piece if piece[0] == "'" else _TUPLE + piece


def _is_tuple(node: Any) -> bool:
    return type(node) is ast.Call and getattr(node.func, "id", "") == _TUPLE


def _distinct(names: list[str]) -> list[str]:
    """Returns names as they were written, and refuses one that is given twice or left out."""
    written = [name[len(_TUPLE) :] for name in names]
    for name in written:
        if not name or written.count(name) > 1:
            raise ValueError("%r is given twice" % name if name else "a name is missing")
    return written


def _value(node: Any) -> object:
    """Returns the nest that an expression describes.

    Raises:
      ValueError, SyntaxError: it describes none.
    """
    if _is_tuple(node) and not node.keywords:
        return tuple(map(_value, node.args))
    if type(node) is ast.Dict:
        names = _distinct([getattr(key, "id", "") for key in node.keys])
        return dict(zip(names, map(_value, node.values)))
    word = getattr(getattr(node, "value", node), "id", "").lower()
    if type(node) is ast.Name and word in _BOOLEANS:
        return _BOOLEANS[word]
    if type(node) is ast.Subscript and word:
        if word not in _NAMES:
            raise ValueError("there is no dtype %r" % word)
        shape = _literal(walks.index_of(node))
        shape = shape if isinstance(shape, tuple) else (shape,)
        if all(type(size) is int and size >= 0 for size in shape):
            return Spec(_NAMES[word], shape)
    value = None if word else _literal(node)
    if not isinstance(value, _PLAIN):
        raise ValueError("%s is no shape and no value" % (word or "a part of it"))
    return value


def _literal(node: Any) -> object:
    """Returns the value of a literal, None of anything else."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
