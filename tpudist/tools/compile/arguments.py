"""Parses the text of ``--args``: Python, with shapes and dtypes as XLA writes them.

``f32[128,28,28,1],s32[128]`` are two arguments of a replica. ``x=f32[8]`` is
one by name, ``(f32[8],s32[8])`` a tuple and ``{image:f32[8],label:s32[8]}`` a
dictionary. ``n=100``, ``0.5``, ``True`` and ``'text'`` are Python values, which
the step gets as they are.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Iterable, Sequence

from tpudist.errors import ArgumentError
from tpudist.surfaces.eras import walks
from tpudist.tools.compile.hlo import messages

#: {XLA's name of a dtype: numpy's}.
_DTYPES = {each.xla: each.name for each in messages.ELEMENTS.values() if each.bits}
_PLAIN = (bool, int, float, complex, str)

#: The shape of a scalar, which is not Python; texts are left alone.
_SCALAR = re.compile(r"('[^']*')|\[\s*\]")


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
        call: Any = ast.parse("_(%s)" % _SCALAR.sub(_python, text), mode="eval").body
        if type(call) is not ast.Call or type(call.func) is not ast.Name:
            raise ValueError("a bracket has no partner")
        kwargs = _named(
            [each.arg for each in call.keywords], [each.value for each in call.keywords]
        )
        return tuple(map(_value, call.args)), kwargs
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ArgumentError(
            "--args %r" % text,
            str(getattr(error, "msg", error)),
            "--args 'f32[128,28,28,1],s32[128],n=100', the shapes of one replica, and "
            "values; dtypes are %s" % ", ".join(sorted(_DTYPES)),
        ) from None


def _python(found: re.Match[str]) -> str:
    return found.group(1) or "[()]"


def _named(names: Sequence[Any], nodes: Sequence[Any]) -> dict[str, Any]:
    """Returns {name: value}; refuses a name that is given twice or left out."""
    for name in names:
        if name is None or names.count(name) > 1:
            raise ValueError("%r is given twice" % name if name else "a name is missing")
    return dict(zip(names, map(_value, nodes)))


def _value(node: object) -> object:
    """Returns the nest that an expression describes.

    Raises:
      ValueError, SyntaxError: it describes none.
    """
    if type(node) is ast.Tuple:
        return tuple(map(_value, node.elts))
    if type(node) is ast.Dict:
        return _named([getattr(key, "id", None) for key in node.keys], node.values)
    if type(node) is ast.Subscript:
        return _spec(getattr(node.value, "id", ""), _literal(walks.index_of(node)))
    value = _literal(node)
    if not isinstance(value, _PLAIN):
        raise ValueError("%s is no shape and no value" % getattr(node, "id", "a part of it"))
    return value


def _spec(dtype: str, shape: object) -> Spec:
    if dtype not in _DTYPES:
        raise ValueError("there is no dtype %r" % dtype)
    sizes = shape if isinstance(shape, tuple) else (shape,)
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError("%s is no shape" % dtype)
    return Spec(_DTYPES[dtype], sizes)


def _literal(node: Any) -> object:
    """Returns the value of a literal, None of anything else."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
