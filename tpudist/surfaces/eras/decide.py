"""From the names in a file or a program to its era."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.surfaces.eras import evidence

if TYPE_CHECKING:
    from typing import Any


Decision = collections.namedtuple("Decision", "era decisive outvoted graph")
Decision.__doc__ = """An era and the names that told it.

Fields:
  era: an element of ``surfaces.ERAS``.
  decisive: the Evidence for it and against newer ones, in reading order; empty
    where no name tells one, which leaves the newest.
  outvoted: the Evidence for other eras alone.
  graph: the Evidence that the program works in a graph only and leaves it to
    TensorFlow 1 to make one.
"""


def decide(clues: Any) -> Any:
    """The era that names tell.

    In this order: what a file states; names that one era alone has; the newest
    era that has all of the others; and last the names that the program only
    uses if they are there. Of several eras the newest is meant, since code that
    was carried forward keeps its old branches.

    Args:
      clues: a list of `evidence.Evidence`, of one file or of many.

    Returns:
      A Decision.
    """
    graph = _graph(clues)
    told = [each for each in clues if each.eras and (each.kind != evidence.GRAPH or each in graph)]
    plain = [each for each in told if not each.guarded]
    tiers = (
        [each for each in told if each.kind == evidence.STATED],
        [each for each in plain if len(each.eras) == 1],
        plain,
        told,
    )
    names = next((tier for tier in tiers if tier), [])
    era = _newest(names)
    having = [each for each in names if era in each.eras]
    decisive = [each for each in having if each.eras[-1] == era] or having
    outvoted = [each for each in told if len(each.eras) == 1 and era not in each.eras]
    return Decision(era, decisive, outvoted, graph)


def _graph(clues: Any) -> list[Any]:
    """The names that need a graph, unless the program says itself when it builds one."""
    if any(each.kind == evidence.MODE for each in clues):
        return []
    return [each for each in clues if each.kind == evidence.GRAPH]


def _newest(names: Any) -> Any:
    eras = [set(each.eras) for each in names] or [set(surfaces.ERAS)]
    return max(set.intersection(*eras) or set.union(*eras), key=surfaces.ERAS.index)
