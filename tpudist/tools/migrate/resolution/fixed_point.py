"""Sets that are defined by each other, each computed once: the least fixed point, on demand.

``ds = ds.map(f)`` defines the values of a name by themselves. What depends on
itself is computed again, all of it together, until nothing changes: a handful
of rounds, so that the time is linear in the number of definitions. Where they are
nested too deeply, the inner ones are computed first, a few times; then what is left
of them counts as unknown.
"""

import contextlib
import sys
import time

NOTHING = frozenset()
UNKNOWN = frozenset([("unknown",)])

_ROUNDS = 12  # then the values count as unknown
_DEPTH = 400  # definitions within each other
_TIMES = 8  # that inner ones are computed first
_STACK = 12000  # Python frames that those need
_OFTEN = 256  # definitions between two looks at the clock


class TimeLimitError(Exception):
    """Reading a file took longer than it may."""


@contextlib.contextmanager
def deep_stack():
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

    Attributes:
      known: {key: its set} of what is certain.
    """

    def __init__(self, deadline=None):
        self._deadline, self._asked = deadline, 0
        self.known = {}
        self._start()

    def _start(self):
        """Nothing is open: the stack, and what is not yet certain of the keys on it."""
        self._open, self._lows, self._changed = {}, [], []
        self._inner, self._inner_order, self._guesses, self._looked = {}, [], {}, set()
        self._cut, self._visits, self._final = None, 0, False

    def solve(self, key, compute, *arguments):
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
        if key in self.known:
            return self.known[key]
        if key in self._open:
            self._depends_on(self._open[key])
            self._looked.add(key)
            return self._guesses.get(key, NOTHING)
        if key in self._inner:
            self._depends_on(self._inner[key])
            return self._guesses[key]
        if len(self._lows) >= _DEPTH:
            self._cut = self._cut or (key, compute, arguments)
            self._depends_on(1)
            return UNKNOWN
        self._look_at_clock()
        if self._lows:
            return self._solve(key, compute, arguments)
        if sys.getrecursionlimit() < _STACK:
            with deep_stack():
                return self.solve(key, compute, *arguments)
        try:
            value = self._solve(key, compute, arguments)
            if self._cut is not None:
                return self._from_within([(key, compute, arguments)])
        except BaseException:
            self._start()
            raise
        self._guesses.clear()
        self._looked.clear()
        self._visits = 0
        return value

    def _from_within(self, todo):
        """The set of the first key, which is nested too deeply; inner ones are computed first.

        Args:
          todo: [what `_solve` is given], of the key that was just solved.
        """
        final = False  # whether what is still nested too deeply counts as unknown
        while todo:
            key, cut = todo[-1][0], self._cut
            value = self.known[key]
            self._start()
            if cut is None or final:
                todo.pop()
            else:
                del self.known[key]
                final = len(todo) == _TIMES or any(each[0] == cut[0] for each in todo)
                todo.append(cut)
            while todo and todo[-1][0] in self.known:
                value = self.known[todo.pop()[0]]
            if todo:
                self._final = final
                self._solve(*todo[-1])
        return value

    def _look_at_clock(self):
        self._asked += 1
        if self._deadline is not None and self._asked % _OFTEN == 0:
            if time.process_time() > self._deadline:
                raise TimeLimitError()

    def _depends_on(self, index):
        if index < self._lows[-1]:
            self._lows[-1] = index

    def _solve(self, key, compute, arguments):
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
                return self._certain(key, value)  # nothing in it depends on itself
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

    def _certain(self, key, value):
        self._lows.pop()
        self._changed.pop()
        del self._open[key]
        self.known[key] = value
        return value

    def _forget(self, first):
        """Has everything that was computed in a round computed again in the next one."""
        for each in self._inner_order[first:]:
            del self._inner[each]
        del self._inner_order[first:]

    def _close(self, key, index, first, value):
        low, changed = self._lows.pop(), self._changed.pop()
        del self._open[key]
        if low < index:  # it depends on what is still open
            self._inner[key] = low
            self._inner_order.append(key)
            self._lows[-1] = min(self._lows[-1], low)
            self._changed[-1] = self._changed[-1] or changed
            return value
        self.known[key] = value
        for each in self._inner_order[first:]:
            if self._cut is None or self._final:
                self.known[each] = self._guesses[each]
            del self._inner[each]
        del self._inner_order[first:]
        return value
