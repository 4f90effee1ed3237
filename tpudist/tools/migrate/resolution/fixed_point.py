"""Sets that are defined by each other: their least fixed point, computed on demand.

``ds = ds.map(f)`` defines the values of a name by themselves. What asks for a set that is still
being computed gets a guess, nothing at first; all that rests on a guess is computed again until
no guess changes, which takes a handful of rounds.
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
    """Lets Python have as many frames as definitions within each other need."""
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
        self._start()

    def _start(self) -> None:
        """Nothing is being computed, and nothing is guessed."""
        self._open: set[Hashable] = set()
        self._guesses: dict[Hashable, Values] = {}
        self._start_round()

    def _start_round(self) -> None:
        self._guessed = 0  # how often a guess was given
        self._of_guesses: set[Hashable] = set()  # what was computed of them in this round
        self._given: set[Hashable] = set()  # whose guesses were given before they were computed
        self._is_settled = True

    def solve(
        self, key: Hashable, compute: Callable[..., Iterable[Tuple[Any, ...]]], *arguments: Any
    ) -> Values:
        """The set of a key, which `compute` returns, that may ask for others it depends on."""
        if key in self._known:
            return self._known[key]
        if key in self._open or key in self._of_guesses:
            self._guessed += 1
            self._given.add(key)
            return self._guesses.get(key, NOTHING)
        if len(self._open) >= _DEPTH:
            return UNKNOWN
        if self._open:
            return self._compute(key, compute, arguments)
        try:
            return self._settled(key, compute, arguments)
        finally:
            self._start()

    def _settled(self, key: Hashable, compute: Any, arguments: Tuple[Any, ...]) -> Values:
        """The set of a key that no other one asks for."""
        for _ in range(_ROUNDS):
            value = self._compute(key, compute, arguments)
            if self._is_settled:
                break
            self._start_round()
        else:
            value |= UNKNOWN
            self._guesses = {each: found | UNKNOWN for each, found in self._guesses.items()}
        self._known.update(self._guesses)
        self._known[key] = value
        return value

    def _compute(self, key: Hashable, compute: Any, arguments: Tuple[Any, ...]) -> Values:
        guessed = self._guessed
        self._open.add(key)
        value = frozenset(compute(*arguments))
        self._open.remove(key)
        if guessed == self._guessed:
            self._known[key] = value
            return value
        self._of_guesses.add(key)
        if key in self._given and value != self._guesses.get(key, NOTHING):
            self._is_settled = False
        self._guesses[key] = value
        return value
