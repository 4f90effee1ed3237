"""Repeats the report of an earlier ``tpudist compile`` if nothing that it read has changed.

The compiler's answers are stored per program, which TensorFlow has to trace first. Here a
whole run is stored, with the files that it read (:mod:`file_reads`). A run of the same
command that would read the same files prints the same report, without TensorFlow. If it is
not known whether it would, the step is traced and compiled again.
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
from tpudist.tools.compile import report
from tpudist.tools.compile.cache import file_reads, source_names, store
from tpudist.tools.compile.compiler import libtpu

if TYPE_CHECKING:
    import argparse
    from typing import Any, Iterator

    from tpudist.tools.compile.report import Report

#: Version of the stored runs.
_FORMAT = 1

#: Options that decide what is compiled.
_OPTIONS = (
    *("target", "args", "topology", "replicas", "logical", "strategy", "era", "fit", "fast"),
    "lower_with",
)

#: Variables that change from shell to shell and mean nothing to a program.
_SHELL_VARIABLES = ("_", "SHLVL", "OLDPWD")

#: Kinds of failure that may not happen again.
_TRANSIENT = ("crash", "timeout")


class EarlierRun(NamedTuple):
    """An earlier run: the text it printed before the report, its reports by name, and when."""

    text: str
    reports: list[tuple[str, Report]]
    when: str


class Recording:
    """A run whose file reads are recorded, so that it can be stored.

    Args:
      recorder: of the files that it reads; None if they cannot be recorded.
      path: of the entry to store it in.
      roots: names of the functions that are traced.
    """

    def __init__(
        self, recorder: file_reads.Recorder | None, path: str = "", roots: tuple[str, ...] = ()
    ) -> None:
        self._recorder, self._path, self._roots = recorder, path, roots

    def store(self, text: str, reports: list[tuple[str, Report]]) -> str:
        """Stores the run; returns why it cannot be, or "" if it is stored or was not recorded.

        Args:
          text: what was printed before the report.
          reports: (name, report) of each function.
        """
        if self._recorder is None:
            return ""
        if any(each.failure and each.failure.kind in _TRANSIENT for _, each in reports):
            return "the compiler did not end"
        with file_reads.unrecorded():
            try:
                read = self._recorder.reads()
                unknown = source_names.unrecordable_use(read.code, self._roots)
            except (file_reads.Unknown, OSError, SyntaxError, ValueError) as error:
                unknown = str(error)
            if not unknown and not store.write(self._path, _content(text, reports, read)):
                unknown = "the cache cannot be written"
        return unknown


def _content(
    text: str, reports: list[tuple[str, Report]], read: file_reads.Reads
) -> dict[str, Any]:
    return {
        "said": text,
        "reports": [[name, each.to_json()] for name, each in reports],
        "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "compiler": _compiler(),
        "files": read.files,
        "folders": read.folders,
    }


@contextlib.contextmanager
def recorded(options: argparse.Namespace) -> Iterator[Recording]:
    """Records the block's file reads; yields its `Recording`. Enter it before TensorFlow loads.

    Args:
      options: of ``tpudist compile``.
    """
    if not file_reads.can_record() or options.lower_with:
        yield Recording(None)
        return
    path, roots = _path(options), tuple(options.target.rpartition(":")[2].split("."))
    with file_reads.recorded() as recorder:
        yield Recording(recorder, path, roots)


def find(options: argparse.Namespace) -> EarlierRun | None:
    """Returns the earlier run whose report is still true, else None; imports no TensorFlow.

    Args:
      options: of ``tpudist compile``; with ``hlo`` or ``no_cache`` there is no earlier run.
    """
    if options.hlo or options.no_cache:
        return None
    content = store.read(_path(options))
    try:
        if content is None or content["compiler"] != _compiler():
            return None
        if file_reads.changed(content["files"], content["folders"]):
            return None
        reports = [
            (name, _marked_as_cached(report.from_json(each))) for name, each in content["reports"]
        ]
    except (TpudistError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return EarlierRun(content["said"], reports, content["when"])


def _marked_as_cached(earlier: Report) -> Report:
    return earlier._replace(effort=earlier.effort._replace(cached=True))


def _compiler() -> list[str]:
    library = libtpu.find()
    return [library.path, library.identity()]


def _path(options: argparse.Namespace) -> str:
    """Returns the path of a run, which depends on all that the command could read but files.

    That is the command, the folder, the environment, Python and the machine.
    """
    environ = {name: value for name, value in os.environ.items() if name not in _SHELL_VARIABLES}
    key = [
        *(_FORMAT, tpudist.__version__, [getattr(options, name) for name in _OPTIONS]),
        *(
            os.getcwd(),
            os.path.realpath(options.target.rpartition(":")[0]),
            sorted(environ.items()),
        ),
        *(sys.version, sys.executable, list(sys.flags), sys.path, sys.warnoptions),
        *(platform.node(), os.cpu_count()),
    ]
    digest = hashlib.sha256(json.dumps(key).encode("utf-8", "surrogateescape")).hexdigest()
    return store.entry_path("runs", digest)
