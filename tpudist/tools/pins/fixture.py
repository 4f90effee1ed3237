"""The ``pin`` fixture: what a test calls."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from tpudist import machine
from tpudist.errors import PinError
from tpudist.toolbox import compare
from tpudist.tools.pins import SUFFIX, store, values

if TYPE_CHECKING:
    from typing import Any, Callable, Mapping, Sequence

    import pytest


#: Tolerances of :meth:`Pin.check`, in its units.
RTOL, ATOL = 1e-5, 1e-8

#: The least `rtol` with a TPU's numbers: twice what rounding to bfloat16 changes an operand by.
TPU_RTOL = 2.0**-8

RECORD, UPDATE = "record", "update"


def of_request(request: pytest.FixtureRequest) -> Pin:
    """The `Pin` of a test."""
    node, option = request.node, request.config.getoption
    mode = RECORD if option("--pins-record") else UPDATE if option("--pins-update") else None
    return Pin(os.path.splitext(str(node.path))[0] + SUFFIX, node.nodeid, mode, in_ci())


def in_ci(environ: Mapping[str, str] | None = None) -> bool:
    """Whether this is a CI service: CI is set, and not to 0 or false."""
    environ = os.environ if environ is None else environ
    return environ.get("CI", "").lower() not in ("", "0", "false")


class Pin:
    """Compares values of one test with those that its first run recorded.

    The first run records, except where CI is set: there a missing pin fails.

    Args:
      path: the pin file.
      nodeid: pytest's id of the test.
      mode: RECORD (everything anew), UPDATE (what differs), or None.
      ci: whether a missing pin fails.

    Attributes:
      log: {"checked": [...], "recorded": [...], "updated": [...]}, names; of
        plain types, which is what xdist carries.
    """

    def __init__(self, path: str, nodeid: str, mode: str | None = None, ci: bool = False) -> None:
        self._path, self._nodeid, self._mode, self._ci = path, nodeid, mode, ci
        self._test = nodeid.partition("::")[2]
        self.log: dict[str, list[str]] = {"checked": [], "recorded": [], "updated": []}

    def check(self, name: str, value: object, rtol: float = RTOL, atol: float = ATOL) -> None:
        """Compares a value, or one value per step.

        Context: eager; in a graph, what ``session.run`` returned.

        Args:
          name: the pin's name, one of its own within the test.
          value: numbers, text, arrays, tensors, per-replica values, or lists
            and dicts of them; a list of losses is a curve in the report. See
            ``tpudist.tools.pins.values`` for what is kept of a large array.
          rtol, atol: ``|obtained - expected| <= atol + rtol * |expected|``; with
            TPUDIST_TPU_NUMBERS=1 `rtol` is 2**-8 at least.

        Raises:
          PinError: (an AssertionError) it differs; under CI, it is missing.
        """
        __tracebackhide__ = True
        if os.environ.get(machine.TPU_NUMBERS, "0") not in ("", "0"):
            rtol = max(rtol, TPU_RTOL)
        self._settle("value", name, values.encode(value, name), rtol, atol)

    def check_structure(self, name: str, value: object) -> None:
        """Compares the nest, dtypes and shapes of a value, not its numbers.

        Context: any; the tensors of a graph will do.

        Args:
          name: the pin's name.
          value: as for :meth:`check`; unknown dimensions are None.

        Raises:
          PinError: as :meth:`check`.
        """
        __tracebackhide__ = True
        self._settle("structure", name, values.structure(value), 0.0, 0.0)

    def check_collectives(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        name: str = "collectives",
    ) -> None:
        """Compares which collectives the program of a function has, and how many.

        Context: cross-replica: `fn` calls ``strategy.run``. It is traced, not
        run; in a graph it is built into the default graph.

        Args:
          fn: a function or ``tf.function``.
          args, kwargs: what it is traced with.
          name: the pin's name.

        Raises:
          PinError: as :meth:`check`.
        """
        __tracebackhide__ = True
        from tpudist.virtual.trace import collectives

        counts = collectives.traced(fn, args, kwargs or {})
        self._settle("collectives", name, counts, 0.0, 0.0)

    def _settle(self, kind: str, name: str, record: object, rtol: float, atol: float) -> None:
        __tracebackhide__ = True
        if name in self.log["checked"]:
            raise PinError(
                "pin %r is checked twice in %s" % (name, self._nodeid),
                "a pin has one record per test and release",
                "a list of the values, checked once; or a name each",
            )
        self.log["checked"].append(name)
        release = store.current_release()
        entry = store.Entry(kind, rtol, atol, {release: record})
        kept = store.read(self._path).get(self._test, {}).get(name)
        if kept is None and self._ci and self._mode is None:
            file = os.path.basename(self._path)
            raise PinError(
                "pin %r of %s is not in %s" % (name, self._nodeid, file),
                "CI is set, and what nobody has looked at is not recorded under CI",
                "pytest %s, on your machine without CI set; then commit %s"
                % (shlex.quote(self._nodeid), file),
            )
        what = "recorded" if kept is None or self._mode == RECORD else ""
        error = self._compare(name, kept, entry, release) if kept and not what else None
        if error and self._mode != UPDATE:
            raise error
        if what or error:
            store.put(self._path, self._test, name, entry, release)
            self.log[what or "updated"].append(name)

    def _compare(
        self, name: str, kept: store.Entry, entry: store.Entry, release: str
    ) -> PinError | None:
        """The error of a pin that differs, else None."""
        against = release if release in kept.on else store.nearest_release(kept.on, release)
        expected, obtained = values.decode(kept.on[against]), values.decode(entry.on[release])
        differences = compare.differences(expected, obtained, entry.rtol, entry.atol)
        if kept.kind != entry.kind:
            told = "  it was recorded as %s, and this is %s" % (kept.kind, entry.kind)
            source = "a pin keeps its kind"
        elif differences:
            told = compare.explain(expected, obtained, differences)
            source = "recorded on TensorFlow %s" % against
            if entry.kind == "value":
                source = "rtol=%g, atol=%g; " % (entry.rtol, entry.atol) + source
            if against != release:
                source += ", the nearest with a record; there is none of %s" % release
        else:
            return None
        return PinError(
            "pin %r of %s differs on TensorFlow %s\n%s" % (name, self._nodeid, release, told),
            source,
            "pytest %s --pins-update, if the new value is right" % shlex.quote(self._nodeid),
        )
