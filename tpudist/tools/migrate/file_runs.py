"""Migrates and writes the files of a run."""

from __future__ import annotations

import argparse
import os
import stat

from tpudist import console, files
from tpudist.tools.migrate import outcomes
from tpudist.tools.migrate.engine import Engine
from tpudist.tools.migrate.program import Program
from tpudist.tools.migrate.resolution.codebase import CodeBase

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def results(options: argparse.Namespace) -> tuple[list[outcomes.Result], int, list[str]]:
    """Migrates all files in memory.

    Returns:
      (the Results of the files that matter, how many files there are, what
      was passed over that a user may miss).
    """
    codebase = CodeBase(options.paths, options.exclude)
    program = Program(codebase, options.origin)
    engine = Engine(codebase, program, options)
    reasons = {path: "unreadable: %s" % error for path, error in codebase.unreadable.items()}
    refused = [
        outcomes.Result(path, None, None, [], [], reason, "")
        for path, reason in sorted({**reasons, **program.faults}.items())
    ]
    migrated = (_migrated(engine, codebase, path) for path in program.files)
    found = [*refused, *console.bar(migrated, len(program.files))]
    return found, len(codebase.files), codebase.passed_over


def _migrated(engine: Engine, codebase: CodeBase, path: str) -> outcomes.Result:
    try:
        found = engine.migrate(path)
        same = found.before == found.after  # then nobody asks for its bytes
        return found._replace(before=None, after=None) if same else found
    except OSError as error:  # it was there when the run began
        return outcomes.Result(path, None, None, [], [], "unreadable: %s" % error, "")
    except Exception:  # one bad file never stops a run, and is named  # noqa: BLE001
        raw = codebase.bytes[path]
        return outcomes.Result(path, raw, raw, [], [], outcomes.fault(), "")


def write(result: outcomes.Result) -> outcomes.Result:
    """Writes a file that changed, whole, with its mode kept.

    Returns the Result; a refused one if it could not be written.
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
