"""Formats byte counts, FLOP counts and array shapes for people, and parses sizes."""

from __future__ import annotations

import re
from typing import Sequence

_SIZE = re.compile(r"^\s*([0-9]*\.?[0-9]+)\s*(B|KiB|MiB|GiB|TiB|KB|MB|GB|TB)?\s*$", re.I)
_LETTERS = "BKMGT"
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
_DECIMAL = ("", "k", "M", "G", "T", "P")


def size(count: float) -> str:
    """Formats a number of bytes, such as ``"15.7 GiB"``."""
    return _scaled(count, 1024, _BINARY)


def parsed(text: str) -> int:
    """Returns the bytes that a text such as ``14GiB`` or ``512`` means, or raises a ValueError."""
    match = _SIZE.match(text)
    if not match:
        raise ValueError(text)
    unit = (match.group(2) or "B").upper()
    step = 1024 if "I" in unit else 1000
    return int(float(match.group(1)) * step ** _LETTERS.index(unit[0]))


def amount(count: float) -> str:
    """Formats a plain number with a decimal prefix, such as ``"3.01 G"`` of FLOPs."""
    return _scaled(count, 1000, _DECIMAL)


def _scaled(count: float, step: int, units: Sequence[str]) -> str:
    unit = units[0]
    for larger in units[1:]:
        if abs(count) < step:
            break
        count, unit = count / step, larger
    return "%.*f %s" % (0 if unit in ("", "B") else 1 if abs(count) >= 10 else 2, count, unit)


def array(dtype: str, shape: Sequence[int]) -> str:
    """Formats the type of an array, such as ``"float32[8,128]"``."""
    return "%s[%s]" % (dtype, ",".join(map(str, shape)))
