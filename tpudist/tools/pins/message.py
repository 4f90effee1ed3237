"""What a failing pin says: expected beside obtained, and the first step that differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tools.pins import compare

if TYPE_CHECKING:
    from typing import Any, Iterable, Sequence, Tuple

    #: Path to a list, and the list as expected and as obtained.
    _Series = Tuple[compare.Path, Any, Any]


#: How many steps are shown before and after the first that differs.
_BEFORE, _AFTER = 2, 5

#: How many differences of a nest are shown.
_SHOWN = 10


def explain(expected: Any, obtained: Any, differences: Sequence[compare.Difference]) -> str:
    """The differences as indented lines.

    Args:
      expected, obtained: as ``values.decode`` returns them.
      differences: what ``compare.differences`` returns for them; not empty.
    """
    series = _series(expected, obtained, differences[0].path)
    if series is not None:
        return _steps(series, differences)
    lines = ["first difference at %s; %d in all" % (place(differences[0].path), len(differences))]
    rows = [
        (" ", place(each.path), each.expected, each.obtained, each.delta)
        for each in differences[:_SHOWN]
    ]
    return "\n".join(_indented(lines + _table("at", rows) + _rest(len(differences) - _SHOWN)))


def place(path: compare.Path) -> str:
    """A path as Python spells it: ``["train"][3]``; "the value" if it is empty."""
    return "".join("[%r]" % (each,) for each in path) or "the value"


def _series(expected: Any, obtained: Any, path: compare.Path) -> _Series | None:
    """(path to it, expected, obtained) of the list of plain values that differs first."""
    if not path or not isinstance(path[-1], int):
        return None
    for each in path[:-1]:
        expected, obtained = expected[each], obtained[each]
    plain = not any(isinstance(each, (list, dict)) for each in expected + obtained)
    return (path[:-1], expected, obtained) if plain else None


def _steps(series: _Series, differences: Sequence[compare.Difference]) -> str:
    path, expected, obtained = series
    here = {each.path[-1]: each for each in differences if each.path[:-1] == path}
    first, count = min(here), max(len(expected), len(obtained))
    where = " of %s" % place(path) if path else ""
    lines = [
        "first difference at step %d%s; %d of %d steps differ" % (first, where, len(here), count)
    ]
    elsewhere = len(differences) - len(here)
    rows = []
    for step in range(max(0, first - _BEFORE), min(count, first + _AFTER)):
        pair = [
            each[step] if step < len(each) else compare.MISSING for each in (expected, obtained)
        ]
        delta = here[step].delta if step in here else None
        rows.append((">" if step in here else " ", str(step)) + tuple(pair) + (delta,))
    return "\n".join(_indented(lines + _table("step", rows) + _rest(elsewhere)))


def _table(head: str, rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Lines of (mark, place, expected, obtained, difference)."""
    cells = [(" ", head, "expected", "obtained", "difference")]
    cells += [
        (mark, where, _text(expected), _text(obtained), "" if delta is None else _text(delta))
        for mark, where, expected, obtained, delta in rows
    ]
    widths = [max(len(row[i]) for row in cells) for i in range(5)]
    return [
        "  ".join(cell.ljust(size) for cell, size in zip(row, widths)).rstrip() for row in cells
    ]


def _text(value: Any) -> str:
    text = value if value is compare.MISSING else repr(value)
    if isinstance(value, float):
        text = "%.9g" % value
    return text if len(text) <= 60 else text[:57] + "..."


def _rest(more: int) -> list[str]:
    return ["and %d more differences" % more] if more > 0 else []


def _indented(lines: Iterable[str]) -> list[str]:
    return ["  " + line for line in lines]
