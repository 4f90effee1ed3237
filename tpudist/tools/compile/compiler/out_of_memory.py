"""Reads the compiler's message about a program that does not fit.

If the compiler fails before it optimizes, the message has the total alone; if it fails
later, it lists the live arrays too.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_NUMBER = r"([\d.]+)([KMGT]?)"

#: How libtpu says by how much a program exceeds the memory: before it optimizes, and later.
_EARLY = re.compile(r"\(%s\) exceeds available HBM \(%s\)" % (_NUMBER, _NUMBER))
_LATE = re.compile(r"Exceeded hbm capacity by %s" % _NUMBER)

_ARRAY = re.compile(
    r'^ *\d+\. Size: %s\n(?: *Operator: op_name="([^"]*)".*\n)? *Shape: ([^{\s]+)' % _NUMBER, re.M
)


class Allocation(NamedTuple):
    """A live array: bytes, op's name ("" if unknown), shape as the compiler writes it."""

    bytes: int
    op_name: str
    shape: str


def missing_bytes(message: str) -> int | None:
    """Returns by how many bytes a program exceeds the memory, None if the message does not say.

    Args:
      message: of the compiler.
    """
    late, early = _LATE.search(message), _EARLY.search(message)
    if late:
        return _bytes(*late.groups())
    return _bytes(*early.groups()[:2]) - _bytes(*early.groups()[2:]) if early else None


def lacks_arrays(answer: dict[str, Any]) -> bool:
    """Whether a program does not fit, and the message does not list its arrays.

    Args:
      answer: what ``answers.digest`` returned.
    """
    message = answer["message"] or ""
    return bool(not answer["ok"] and _EARLY.search(message)) and not allocations(message)


def allocations(message: str) -> list[Allocation]:
    """Returns the largest live arrays that a message lists; none if it has the total alone.

    Args:
      message: of the compiler.
    """
    return [
        Allocation(_bytes(number, unit), name, shape)
        for number, unit, name, shape in _ARRAY.findall(message)
    ]


def _bytes(number: str, unit: str) -> int:
    return int(float(number) * _UNITS[unit])
