"""Sets that are defined by each other are each computed once: the least fixed point, on demand.

``ds = ds.map(f)`` defines the values of a name by themselves. What depends on
itself is computed again, all of it together, until nothing changes: a handful
of rounds, so that the time is linear in the number of definitions. Where they are
nested too deeply, the inner ones are computed first, a few times; then what is left
of them counts as unknown.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, FrozenSet, Hashable, Iterable, Iterator, Tuple

#: A set of values, as of `tpudist.tools.migrate.resolution.evaluate`.
Values = FrozenSet[Tuple[Any, ...]]
#: A key, the function that computes its set, and what that is called with.
_Definition = Tuple[Hashable, Callable[..., Iterable[Tuple[Any, ...]]], Tuple[Any, ...]]

NOTHING: Values = frozenset()
UNKNOWN: Values = frozenset([("unknown",)])

_ROUNDS = 12  # then the values count as unknown
_DEPTH = 400  # definitions within each other
_TIMES = 8  # that inner ones are computed first
_STACK = 12000  # Python frames that those need
_OFTEN = 256  # definitions between two looks at the clock


class TimeLimitError(Exception):
    """Reading a file took longer than it may."""


class _NestedTooDeeplyError(Exception):
    """A definition stands within too many others."""

    def __init__(self, definition: _Definition) -> None:
        super().__init__()
        self.definition = definition


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
    """Values by key.

    Args:
      deadline: a `time.process_time()` after which it stops; None for never.
    """

    def __init__(self, deadline: float | None = None) -> None:
        self._deadline, self._asked = deadline, 0
        self._known: dict[Hashable, Values] = {}
        self._gives_up = False
        self._start()

    def _start(self) -> None:
        """Nothing is open: the stack, and what is not yet certain of the keys on it."""
        self._open: dict[Hashable, int] = {}
        self._lows: list[int] = []
        self._changed: list[bool] = []
        self._inner: dict[Hashable, int] = {}
        self._inner_order: list[Hashable] = []
        self._guesses: dict[Hashable, Values] = {}
        self._looked: set[Hashable] = set()
        self._visits = 0

    def solve(
        self, key: Hashable, compute: Callable[..., Iterable[Tuple[Any, ...]]], *arguments: Any
    ) -> Values:
        """The set of a key.

        Args:
          key: anything hashable.
          compute: a function that returns the set, and asks for others it depends on.
          *arguments: what it is called with.

        Returns:
          A frozenset.

        Raises:
          TimeLimitError: the deadline has passed.
        """
        if key in self._known:
            return self._known[key]
        if key in self._open:
            self._depends_on(self._open[key])
            self._looked.add(key)
            return self._guesses.get(key, NOTHING)
        if key in self._inner:
            self._depends_on(self._inner[key])
            return self._guesses[key]
        if len(self._lows) >= _DEPTH:
            if not self._gives_up:
                raise _NestedTooDeeplyError((key, compute, arguments))
            self._depends_on(1)
            return UNKNOWN
        self._look_at_clock()
        if self._lows:
            return self._solve(key, compute, arguments)
        if sys.getrecursionlimit() < _STACK:
            with deep_stack():
                return self.solve(key, compute, *arguments)
        return self._solve_first((key, compute, arguments))

    def _solve_first(self, definition: _Definition) -> Values:
        """The set of a definition that no other one asks for.

        What is nested too deeply in it is computed before it; where that does not
        end, what is still nested too deeply counts as unknown.
        """
        todo, self._gives_up = [definition], False
        while todo:
            key, compute, arguments = todo[-1]
            try:
                if key not in self._known:
                    self._solve(key, compute, arguments)
                todo.pop()
            except _NestedTooDeeplyError as error:
                inner = error.definition
                self._gives_up = len(todo) == _TIMES or any(inner[0] == each[0] for each in todo)
                todo.append(inner)
            finally:
                self._start()
        return self._known[definition[0]]

    def _look_at_clock(self) -> None:
        self._asked += 1
        if self._deadline is not None and self._asked % _OFTEN == 0:
            if time.process_time() > self._deadline:
                raise TimeLimitError()

    def _depends_on(self, index: int) -> None:
        if index < self._lows[-1]:
            self._lows[-1] = index

    def _solve(
        self,
        key: Hashable,
        compute: Callable[..., Iterable[Tuple[Any, ...]]],
        arguments: Tuple[Any, ...],
    ) -> Values:
        # As in Tarjan's algorithm for components: the number of a visit, and the
        # lowest one among those that a visit depends on.
        self._visits += 1
        index, first = self._visits, len(self._inner_order)
        self._open[key] = index
        self._lows.append(index)
        self._changed.append(False)
        for _ in range(_ROUNDS):
            value = frozenset(compute(*arguments))
            if not self._looked and self._lows[-1] == index and len(self._inner_order) == first:
                return self._close(key, index, first, value)  # nothing in it depends on itself
            if key in self._looked and value != self._guesses.get(key, NOTHING):
                self._changed[-1] = True
            self._guesses[key] = value
            if self._lows[-1] < index or not self._changed[-1]:
                break
            self._forget(first)
            self._lows[-1], self._changed[-1] = index, False
        else:
            value = self._guesses[key] = value | UNKNOWN
        return self._close(key, index, first, value)

    def _forget(self, first: int) -> None:
        """Has everything that was computed in a round computed again in the next one."""
        for each in self._inner_order[first:]:
            del self._inner[each]
        del self._inner_order[first:]

    def _close(self, key: Hashable, index: int, first: int, value: Values) -> Values:
        """Ends a visit: its set is certain, unless it depends on a key that is still open."""
        low, changed = self._lows.pop(), self._changed.pop()
        del self._open[key]
        if low < index:
            self._inner[key] = low
            self._inner_order.append(key)
            self._depends_on(low)
            self._changed[-1] = self._changed[-1] or changed
            return value
        self._known[key] = value
        for each in self._inner_order[first:]:
            self._known[each] = self._guesses[each]
        self._forget(first)
        return value
