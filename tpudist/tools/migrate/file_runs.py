"""All files of a run: which are looked at, in how many processes, and the writing."""

from __future__ import annotations

import atexit
import gc
import os
import stat
from typing import TYPE_CHECKING

from tpudist import console, files
from tpudist.tools.migrate import outcomes
from tpudist.tools.migrate.engine import Engine
from tpudist.tools.migrate.program import Program
from tpudist.tools.migrate.resolution.codebase import CodeBase

if TYPE_CHECKING:
    import argparse
    from typing import Any, Iterator


_FEW = 40  # files that one process is done with in half a second
_IN_TURN = 16  # files that stand beside each other and have one process
_COLLECT = 1000  # files after which a process frees what it can
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_state: dict[str, Any] = {}
atexit.register(gc.freeze)  # a last look through all objects is a tenth of a short run


def results(options: argparse.Namespace) -> tuple[list[outcomes.Result], int, list[str]]:
    """Migrates everything; nothing is written to the files.

    Args:
      options: see `tpudist.tools.migrate.options`.

    Returns:
      (the Results of the files that matter, how many files there are, what
      was passed over that a user may miss).
    """
    try:
        codebase = CodeBase(options.paths, options.exclude)
        program = Program(codebase, options.origin)
        reasons = {path: "unreadable: %s" % error for path, error in codebase.unreadable.items()}
        refused = [
            outcomes.Result(path, None, None, [], [], reason, "")
            for path, reason in sorted({**reasons, **program.faults}.items())
        ]
        found = [*refused, *_migrated(codebase, program, options)]
        return found, len(codebase.files), codebase.passed_over
    finally:
        _state.clear()


def _migrated(
    codebase: CodeBase, program: Program, options: argparse.Namespace
) -> Iterator[outcomes.Result]:
    jobs = min(options.jobs or os.cpu_count() or 1, len(program.files))
    if jobs < 2 or not options.jobs and len(program.files) <= _FEW:
        _start(codebase, program, options)
        yield from console.bar(map(_one, program.files), len(program.files))
        return
    import concurrent.futures

    with concurrent.futures.ProcessPoolExecutor(
        jobs, initializer=_start_process, initargs=(codebase, program, options)
    ) as pool:
        together = max(1, min(_IN_TURN, len(program.files) // (4 * jobs)))
        found = pool.map(_one, program.files, chunksize=together)
        yield from console.bar(found, len(program.files))


def _start_process(codebase: CodeBase, program: Program, options: argparse.Namespace) -> None:
    gc.disable()
    _start(codebase, program, options)


def _start(codebase: CodeBase, program: Program, options: argparse.Namespace) -> None:
    _state["engine"] = Engine(codebase, program, options)
    _state["codebase"] = codebase


def _one(path: str) -> outcomes.Result:
    _state["files"] = _state.get("files", 0) + 1
    if _state["files"] % _COLLECT == 0:
        gc.collect()
    try:
        found: outcomes.Result = _state["engine"].migrate(path)
        same = found.before == found.after  # then nobody asks for its bytes
        return found._replace(before=None, after=None) if same else found
    except OSError as error:  # it was there when the run began
        return outcomes.Result(path, None, None, [], [], "unreadable: %s" % error, "")
    except Exception:  # one bad file never stops a run, and is named
        raw = _state["codebase"].bytes[path]
        return outcomes.Result(path, raw, raw, [], [], outcomes.fault(), "")


def write(result: outcomes.Result) -> outcomes.Result:
    """Writes a file that changed, whole, with its mode kept.

    Args:
      result: a Result.

    Returns:
      The Result; a refused one if it could not be written.
    """
    if result.before == result.after or result.after is None:
        return result
    path = os.path.realpath(result.path)
    try:
        if not os.stat(path).st_mode & _WRITABLE:  # a new file in its place could be written
            raise PermissionError("it is read-only")
        files.write_bytes(path, result.after)
    except OSError as error:
        return result._replace(
            after=result.before, rewritten=[], refused="cannot be written: %s" % error
        )
    return result
