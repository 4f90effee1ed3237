"""Compares an obtained value with the recorded one, and shows where they differ.

Numbers agree if ``|obtained - expected| <= atol + rtol * |expected|``. nan
agrees with nan, an infinity with itself. Integers and truth values agree only
if they are equal; so do text, lengths, keys and shapes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Sequence, Tuple

if TYPE_CHECKING:
    from typing import TypeGuard

    #: Keys and indices.
    Path = Tuple[Any, ...]

    #: Path to a list, and the list as expected and as obtained.
    _Series = Tuple[Path, Any, Any]


class Difference(NamedTuple):
    """One difference."""

    path: Path  # leads to it: keys and indices
    # what stands there
    expected: Any
    obtained: Any
    # None where there is no number
    delta: Any
    allowed: float | None


#: Of a summary, what is compared relative to the rms of the array: a mean of
#: nearly zero is small change of large numbers.
_RELATIVE_TO_RMS = ("mean", "std")

MISSING = "(nothing)"

#: How many steps are shown before and after the first that differs.
_BEFORE, _AFTER = 2, 5

#: How many differences of a nest are shown.
_SHOWN = 10


def differences(
    expected: object, obtained: object, rtol: float = 0.0, atol: float = 0.0
) -> list[Difference]:
    """[Difference, ...] in the order of the value, of what ``values.decode`` returns."""
    return list(_walk((), expected, obtained, rtol, atol))


def _walk(
    path: Path, expected: object, obtained: object, rtol: float, atol: float
) -> Iterator[Difference]:
    if isinstance(expected, list) and isinstance(obtained, list):
        for index in range(max(len(expected), len(obtained))):
            pair = [each[index] if index < len(each) else MISSING for each in (expected, obtained)]
            yield from _walk(path + (index,), pair[0], pair[1], rtol, atol)
    elif isinstance(expected, dict) and isinstance(obtained, dict):
        for key in list(expected) + [key for key in obtained if key not in expected]:
            before, after = expected.get(key, MISSING), obtained.get(key, MISSING)
            is_relative = path[-1:] == ("$summary",) and key in _RELATIVE_TO_RMS
            more = rtol * float(expected.get("rms", 0.0)) if is_relative else 0.0
            yield from _walk(path + (key,), before, after, rtol, atol + more)
    elif _is_number(expected) and _is_number(obtained):
        yield from _numbers(path, expected, obtained, rtol, atol)
    elif type(expected) is not type(obtained) or expected != obtained:
        yield Difference(path, expected, obtained, None, None)


def _is_number(value: object) -> TypeGuard[complex]:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _numbers(
    path: Path, expected: complex, obtained: complex, rtol: float, atol: float
) -> Iterator[Difference]:
    if expected == obtained or (expected != expected and obtained != obtained):
        return
    exact = isinstance(expected, int) and isinstance(obtained, int)
    delta = obtained - expected
    allowed = 0.0 if exact else atol + rtol * abs(expected)
    if exact or not math.isfinite(abs(expected)) or not abs(delta) <= allowed:
        yield Difference(path, expected, obtained, delta, allowed)


def explain(expected: object, obtained: object, differences: Sequence[Difference]) -> str:
    """Formats what ``compare.differences`` found, which is not empty, as indented lines."""
    series = _series(expected, obtained, differences[0].path)
    if series is not None:
        return _steps(series, differences)
    lines = ["first difference at %s; %d in all" % (place(differences[0].path), len(differences))]
    rows = [
        (" ", place(each.path), each.expected, each.obtained, each.delta)
        for each in differences[:_SHOWN]
    ]
    return _indented(lines + _table("at", rows), len(differences) - _SHOWN)


def place(path: Path) -> str:
    """A path as Python spells it: ``["train"][3]``; "the value" if it is empty."""
    return "".join("[%r]" % (each,) for each in path) or "the value"


def _series(expected: object, obtained: object, path: Path) -> _Series | None:
    """(path to it, expected, obtained) of the list of plain values that differs first."""
    if not path or not isinstance(path[-1], int):
        return None
    series: list[Any] = [expected, obtained]
    for each in path[:-1]:
        series = [nested[each] for nested in series]
    plain = not any(isinstance(each, (list, dict)) for nested in series for each in nested)
    return (path[:-1], *series) if plain else None


def _steps(series: _Series, differences: Sequence[Difference]) -> str:
    path, expected, obtained = series
    here = {each.path[-1]: each for each in differences if each.path[:-1] == path}
    first, count = min(here), max(len(expected), len(obtained))
    where = " of %s" % place(path) if path else ""
    lines = [
        "first difference at step %d%s; %d of %d steps differ" % (first, where, len(here), count)
    ]
    rows = []
    for step in range(max(0, first - _BEFORE), min(count, first + _AFTER)):
        pair = [each[step] if step < len(each) else MISSING for each in (expected, obtained)]
        delta = here[step].delta if step in here else None
        rows.append((">" if step in here else " ", str(step)) + tuple(pair) + (delta,))
    return _indented(lines + _table("step", rows), len(differences) - len(here))


def _table(head: str, rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Returns a table's lines, from rows of (mark, place, expected, obtained, difference)."""
    cells = [(" ", head, "expected", "obtained", "difference")]
    cells += [
        (mark, where, _text(expected), _text(obtained), "" if delta is None else _text(delta))
        for mark, where, expected, obtained, delta in rows
    ]
    widths = [max(len(row[i]) for row in cells) for i in range(5)]
    return [
        "  ".join(cell.ljust(size) for cell, size in zip(row, widths)).rstrip() for row in cells
    ]


def _text(value: object) -> str:
    text = value if value is MISSING else repr(value)
    if isinstance(value, float):
        text = "%.9g" % value
    return text if len(text) <= 60 else text[:57] + "..."


def _indented(lines: list[str], more: int) -> str:
    rest = ["and %d more differences" % more] if more > 0 else []
    return "\n".join("  " + line for line in lines + rest)
