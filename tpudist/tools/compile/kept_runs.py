"""Reports of ``tpudist compile`` that hold as long as nothing that was read changes.

The compiler's answers are kept by the program (:mod:`tpudist.tools.compile.cache`), which
TensorFlow has to trace first. Here a whole run is kept, with what it read
(:mod:`tpudist.tools.compile.readings`): one that would read the same says the same, without
TensorFlow. What is not known to be the same is compiled the long way.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import tpudist
from tpudist.errors import TpudistError
from tpudist.tools.compile import cache, libtpu, live_names, readings, report

if TYPE_CHECKING:
    import argparse
    from typing import Any, Iterator

    from tpudist.tools.compile.report import Report

#: Changes when what is kept does.
_FORMAT = 1

#: Options that decide what is compiled.
_OPTIONS = (
    *("target", "args", "topology", "replicas", "logical", "strategy", "era", "fit", "fast"),
    "lower_with",
)

#: Variables that shells count with, and say nothing to a program.
_COUNTED = ("_", "SHLVL", "OLDPWD")

#: Kinds of failure that may go better next time.
_PASSING = ("crash", "timeout")


class Kept(NamedTuple):
    """A run of before: what it said before the report, the reports by name, and when."""

    said: str
    reports: list[tuple[str, Report]]
    when: str


class Watch:
    """A run that may be kept.

    Args:
      recorder: of what it reads, None if nobody can tell.
      path: of the file to keep it in.
      roots: names of the functions that are traced.
    """

    def __init__(
        self, recorder: readings.Recorder | None, path: str = "", roots: tuple[str, ...] = ()
    ) -> None:
        self._recorder, self._path, self._roots = recorder, path, roots

    def keep(self, said: str, made: list[tuple[str, Report]]) -> str:
        """Keeps the run; returns why not, "" if it is kept or nobody could tell what it reads.

        Args:
          said: what was printed before the report.
          made: (name, report) of each function.
        """
        if self._recorder is None:
            return ""
        if any(each.failure and each.failure.kind in _PASSING for _, each in made):
            return "the compiler did not end"
        with readings.unnoted():
            try:
                read = self._recorder.settled()
                unknown = live_names.asked(read.code, self._roots)
            except (readings.Unknown, OSError, SyntaxError, ValueError) as error:
                unknown = str(error)
            if not unknown and not cache.write(self._path, self._content(said, made, read)):
                unknown = "the cache cannot be written"
        return unknown

    def _content(
        self, said: str, made: list[tuple[str, Report]], read: readings.Witness
    ) -> dict[str, Any]:
        return {
            "said": said,
            "reports": [[name, each.to_json()] for name, each in made],
            "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            "compiler": _compiler(),
            "files": read.files,
            "folders": read.folders,
        }


@contextlib.contextmanager
def watched(options: argparse.Namespace) -> Iterator[Watch]:
    """Context manager: yields the `Watch` of a run, to be entered before TensorFlow is.

    Args:
      options: of ``tpudist compile``.
    """
    if not readings.can_record() or options.lower_with:
        yield Watch(None)
        return
    path, roots = _path(options), tuple(options.target.rpartition(":")[2].split("."))
    with readings.recorded() as recorder:
        yield Watch(recorder, path, roots)


def find(options: argparse.Namespace) -> Kept | None:
    """The run of before, if this one would be the same; imports no TensorFlow.

    Args:
      options: of ``tpudist compile``; with ``hlo`` or ``no_cache`` nothing is found.
    """
    if options.hlo or options.no_cache:
        return None
    kept = cache.read(_path(options))
    try:
        if kept is None or kept["compiler"] != _compiler():
            return None
        if readings.changed(kept["files"], kept["folders"]):
            return None
        made = [(name, _again(report.from_json(each))) for name, each in kept["reports"]]
    except (TpudistError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Kept(kept["said"], made, kept["when"])


def _again(made: Report) -> Report:
    return made._replace(effort=made.effort._replace(cached=True))


def _compiler() -> list[str]:
    found = libtpu.find()
    return [found.path, found.identity()]


def _path(options: argparse.Namespace) -> str:
    """The file of a run: of the command, the folder, the environment, Python and the machine."""
    environ = {name: value for name, value in os.environ.items() if name not in _COUNTED}
    told = [
        *(_FORMAT, tpudist.__version__, [getattr(options, name) for name in _OPTIONS]),
        *(
            os.getcwd(),
            os.path.realpath(options.target.rpartition(":")[0]),
            sorted(environ.items()),
        ),
        *(sys.version, sys.executable, list(sys.flags), sys.path, sys.warnoptions),
        *(platform.node(), os.cpu_count()),
    ]
    digest = hashlib.sha256(json.dumps(told).encode("utf-8", "surrogateescape")).hexdigest()
    return cache.place("runs", digest)
