"""Parses the text of ``--args``: shapes and dtypes, as XLA writes them.

``f32[128,28,28,1],s32[128]`` are two arguments of a replica. ``x=f32[8]`` is
one by name, ``(f32[8],s32[8])`` a tuple and ``{image:f32[8],label:s32[8]}`` a
dictionary. Dtypes have XLA's names or numpy's. ``n=100``, ``0.5``, ``true`` and
``'text'`` are Python values, which the step gets as they are.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Container, Iterable

from tpudist.errors import ArgumentError

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

_TOKEN = re.compile(r"\s*(?:(\w+)\s*\[([\d\s,]*)\]|(\w+)\s*([:=])|([(){},]))")
_VALUE = re.compile(r"\s*([-+]?[\d.][\w.+-]*|true|false|'[^']*')(?=\s*([,)}]|$))", re.I)
_BOOLEANS = {"true": True, "false": False}


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
    """Parses the arguments that a text describes.

    Args:
      text: see the module's docstring; "" for no arguments.

    Returns:
      ``(args, kwargs)``: a tuple and a dictionary of nests of `Spec` and plain values.

    Raises:
      ArgumentError: (a ValueError) the text describes no arguments.
    """
    reader = _Reader(text)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    while not reader.at_end():
        name = reader.name("=")
        if name:
            reader.refuse_repeated(name, kwargs)
            kwargs[name] = reader.value()
        elif kwargs:
            raise reader.error("an argument without a name follows one with")
        else:
            args.append(reader.value())
        if not reader.at_end():
            reader.expect(",")
    return tuple(args), kwargs


class _Reader:
    """Reads a text token by token from the left."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def at_end(self) -> bool:
        return not self._text[self._place :].strip()

    def name(self, mark: str) -> str | None:
        """Reads a name with a mark behind it; returns None if none comes next."""
        token = self._peek()
        if not token or token.group(4) != mark:
            return None
        self._place = token.end()
        return token.group(3)

    def value(self) -> Any:
        """Reads the nest that comes next."""
        token = self._peek()
        if token and token.group(1):
            self._place = token.end()
            return self._spec(token.group(1), token.group(2))
        if token and token.group(5) == "(":
            return tuple(each for _, each in self._entries(token, ")", None))
        if token and token.group(5) == "{":
            return dict(self._entries(token, "}", ":"))
        literal = _VALUE.match(self._text, self._place)
        if literal:
            return self._literal(literal)
        raise self.error("a shape or a value is expected")

    def expect(self, symbol: str) -> None:
        """Reads a symbol, and refuses anything else."""
        if not self._skip(symbol):
            raise self.error("%r is expected" % symbol)

    def refuse_repeated(self, name: str, names: Container[str]) -> None:
        """Refuses a name that is among those read before."""
        if name in names:
            raise self.error("%r is given twice, again" % name)

    def error(self, why: str) -> ArgumentError:
        """Returns the error for the text that comes next."""
        return ArgumentError(
            "--args %r" % self._text,
            "%s at %r" % (why, self._text[self._place :].strip() or "the end"),
            "--args 'f32[128,28,28,1],s32[128],n=100', the shapes of one replica, and "
            "values; dtypes are %s" % ", ".join(sorted(_XLA)),
        )

    def _entries(self, bracket: re.Match[str], end: str, mark: str | None) -> list[tuple[str, Any]]:
        """Reads (name, value) of each entry up to a bracket; names are "" without a mark."""
        self._place = bracket.end()
        entries: list[tuple[str, Any]] = []
        while not self._skip(end):
            if entries:
                self.expect(",")
            name = self.name(mark) if mark else ""
            if name is None:
                raise self.error("a name is expected")
            self.refuse_repeated(name, [each for each, _ in entries if each])
            entries.append((name, self.value()))
        return entries

    def _skip(self, symbol: str) -> bool:
        token = self._peek()
        if not token or token.group(5) != symbol:
            return False
        self._place = token.end()
        return True

    def _peek(self) -> re.Match[str] | None:
        return _TOKEN.match(self._text, self._place)

    def _literal(self, literal: re.Match[str]) -> Any:
        text = literal.group(1)
        try:
            value = _BOOLEANS[text.lower()] if text.lower() in _BOOLEANS else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise self.error("%r is no number" % text) from None
        self._place = literal.end(1)
        return value

    def _spec(self, name: str, dimensions: str) -> Spec:
        if name.lower() not in _NAMES:
            raise ArgumentError(
                "--args %r" % self._text,
                "there is no dtype %r" % name,
                "one of %s, or numpy's names" % ", ".join(sorted(_XLA)),
            )
        try:
            shape = [int(each) for each in dimensions.split(",")] if dimensions.strip() else []
        except ValueError:
            raise self.error("%r is no shape before" % dimensions) from None
        return Spec(_NAMES[name.lower()], shape)
