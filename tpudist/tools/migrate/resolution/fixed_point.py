"""Computes sets that are defined by each other: their least fixed point, on demand.

``ds = ds.map(f)`` defines the values of a name by themselves. What asks for a set that is still
being computed gets a guess, nothing at first; all is computed again until no guess changes, which
takes a handful of rounds.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, FrozenSet, Hashable, Iterable, Iterator, Tuple

#: A set of values, as of `tpudist.tools.migrate.resolution.evaluate`.
Values = FrozenSet[Tuple[Any, ...]]

NOTHING: Values = frozenset()
UNKNOWN: Values = frozenset([("unknown",)])
OTHER: Values = frozenset([("other",)])

_ROUNDS = 12  # then the values count as unknown
_DEPTH = 400  # definitions within each other; what is below counts as unknown
_STACK = 12000  # Python frames that those need


@contextlib.contextmanager
def deep_stack() -> Iterator[None]:
    """Raises Python's recursion limit to what nested definitions need."""
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, _STACK))
    try:
        yield
    finally:
        sys.setrecursionlimit(frames)


class FixedPoint:
    """Values by key."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Values] = {}
        #: What was computed in this round, or is guessed while it is computed; None between runs.
        self._round: dict[Hashable, Values] | None = None
        self._guesses: dict[Hashable, Values] = {}  # what the round before computed
        self._depth = 0
        self._asked: set[Hashable] = set()  # whose values of this round were asked for
        self._is_settled = True

    def solve(
        self, key: Hashable, compute: Callable[..., Iterable[tuple[Any, ...]]], *arguments: Any
    ) -> Values:
        """The set of a key, which `compute` returns, that may ask for others it depends on."""
        if key in self._known:
            return self._known[key]
        if self._round is None:
            try:
                return self._settled(key, compute, arguments)
            finally:
                self._round, self._guesses, self._depth = None, {}, 0
        if key in self._round:
            self._asked.add(key)
            return self._round[key]
        if self._depth >= _DEPTH:
            return UNKNOWN
        return self._compute(key, compute, arguments)

    def _settled(self, key: Hashable, compute: Any, arguments: tuple[Any, ...]) -> Values:
        """The set of a key that no other one asks for, after as many rounds as it needs."""
        for _ in range(_ROUNDS):
            self._round, self._asked, self._is_settled = {}, set(), True
            self._compute(key, compute, arguments)
            if self._is_settled:
                break
            self._guesses = self._round
        else:
            self._round = {each: found | UNKNOWN for each, found in self._guesses.items()}
        self._known.update(self._round)
        return self._known[key]

    def _compute(self, key: Hashable, compute: Any, arguments: tuple[Any, ...]) -> Values:
        assert self._round is not None
        guess = self._round[key] = self._guesses.get(key, NOTHING)
        self._depth += 1
        value = frozenset(compute(*arguments))
        self._depth -= 1
        if key in self._asked and value != guess:
            self._is_settled = False
        self._round[key] = value
        return value
