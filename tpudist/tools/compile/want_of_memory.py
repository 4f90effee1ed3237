"""What the compiler's message says of a program that does not fit.

Before it optimizes, it tells the sum alone; after that also the arrays that are held.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_NUMBER = r"([\d.]+)([KMGT]?)"

#: How libtpu says by how much: early, and late.
_EXCEEDS = re.compile(r"\(%s\) exceeds available HBM \(%s\)" % (_NUMBER, _NUMBER))
_BY = re.compile(r"Exceeded hbm capacity by %s" % _NUMBER)

_ARRAY = re.compile(
    r'^ *\d+\. Size: %s\n(?: *Operator: op_name="([^"]*)".*\n)? *Shape: ([^{\s]+)' % _NUMBER, re.M
)


class Allocation(NamedTuple):
    """An array that was held: bytes, op's name ("" if unknown), shape as the compiler writes it."""

    bytes: int
    op_name: str
    shape: str


def missing(message: str) -> int | None:
    """By how many bytes a program exceeds the memory, None if the message does not say.

    Args:
      message: of the compiler.
    """
    late, early = _BY.search(message), _EXCEEDS.search(message)
    if late:
        return _bytes(*late.groups())
    return _bytes(*early.groups()[:2]) - _bytes(*early.groups()[2:]) if early else None


def is_a_sum(kept: dict[str, Any]) -> bool:
    """Whether the compiler told of a program that does not fit only by how much.

    Args:
      kept: of ``answers.digest``.
    """
    message = kept["message"] or ""
    return bool(not kept["ok"] and _EXCEEDS.search(message)) and not allocations(message)


def allocations(message: str) -> list[Allocation]:
    """The largest arrays that the optimized program held; empty if it was not optimized.

    Args:
      message: of the compiler.
    """
    return [
        Allocation(_bytes(number, unit), name, shape)
        for number, unit, name, shape in _ARRAY.findall(message)
    ]


def _bytes(number: str, unit: str) -> int:
    return int(float(number) * _UNITS[unit])
