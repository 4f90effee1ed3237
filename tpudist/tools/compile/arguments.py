"""What ``--args`` says: shapes and dtypes, as XLA writes them.

``f32[128,28,28,1],s32[128]`` are two arguments of a replica. ``x=f32[8]`` is
one by name, ``(f32[8],s32[8])`` a tuple and ``{image:f32[8],label:s32[8]}`` a
dictionary. Dtypes have XLA's names or numpy's. ``n=100``, ``0.5``, ``true`` and
``'text'`` are values: the step gets them as they are, as Python's own.
"""

import ast
import re

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
_TRUTHS = {"true": True, "false": False}


class Spec:
    """The shape and dtype of one tensor.

    Args:
      dtype: numpy's name of it, or "bfloat16".
      shape: a tuple of ints.
    """

    def __init__(self, dtype, shape):
        self.dtype = dtype
        self.shape = tuple(shape)

    def __eq__(self, other):
        return isinstance(other, Spec) and ((self.dtype, self.shape) == (other.dtype, other.shape))

    def __hash__(self):
        return hash((self.dtype, self.shape))

    def __repr__(self):
        return "%s[%s]" % (self.dtype, ",".join(map(str, self.shape)))


def parse(text):
    """The arguments that a text describes.

    Args:
      text: see the module; "" for none.

    Returns:
      ``(args, kwargs)``: a tuple and a dictionary of nests of `Spec` and plain values.

    Raises:
      ArgumentError: (a ValueError) it is none.
    """
    reader = _Reader(text)
    args, kwargs = [], {}
    while not reader.at_end():
        name = reader.name("=")
        if name:
            reader.once(name, kwargs)
            kwargs[name] = reader.value()
        elif kwargs:
            raise reader.error("an argument without a name follows one with")
        else:
            args.append(reader.value())
        if not reader.at_end():
            reader.expect(",")
    return tuple(args), kwargs


class _Reader:
    """A text, read token by token from the left."""

    def __init__(self, text):
        self._text = text
        self._place = 0

    def at_end(self):
        return not self._text[self._place :].strip()

    def name(self, mark):
        """The name before a mark, if that comes next."""
        found = self._peek()
        if not found or found.group(4) != mark:
            return None
        self._place = found.end()
        return found.group(3)

    def value(self):
        """The nest that comes next."""
        found = self._peek()
        if found and found.group(1):
            self._place = found.end()
            return self._spec(found.group(1), found.group(2))
        if found and found.group(5) == "(":
            return tuple(each for _, each in self._entries(")", None))
        if found and found.group(5) == "{":
            return dict(self._entries("}", ":"))
        given = _VALUE.match(self._text, self._place)
        if given:
            return self._literal(given)
        raise self.error("a shape or a value is expected")

    def expect(self, symbol):
        """Reads a symbol."""
        if not self._skip(symbol):
            raise self.error("%r is expected" % symbol)

    def once(self, name, before):
        """Refuses a name that came before."""
        if name in before:
            raise self.error("%r is given twice, again" % name)

    def error(self, why):
        """The error of what comes next."""
        return ArgumentError(
            "--args %r" % self._text,
            "%s at %r" % (why, self._text[self._place :].strip() or "the end"),
            "--args 'f32[128,28,28,1],s32[128],n=100', the shapes of one replica, and "
            "values; dtypes are %s" % ", ".join(sorted(_XLA)),
        )

    def _entries(self, end, mark):
        self._place = self._peek().end()
        found = []
        while not self._skip(end):
            if found:
                self.expect(",")
            name = self.name(mark) if mark else ""
            if name is None:
                raise self.error("a name is expected")
            self.once(name, [each for each, _ in found if each])
            found.append((name, self.value()))
        return found

    def _skip(self, symbol):
        found = self._peek()
        if not found or found.group(5) != symbol:
            return False
        self._place = found.end()
        return True

    def _peek(self):
        return _TOKEN.match(self._text, self._place)

    def _literal(self, given):
        text = given.group(1)
        try:
            value = _TRUTHS[text.lower()] if text.lower() in _TRUTHS else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise self.error("%r is no number" % text) from None
        self._place = given.end(1)
        return value

    def _spec(self, name, dimensions):
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
