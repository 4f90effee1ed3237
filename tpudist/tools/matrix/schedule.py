"""Runs the releases one after the other, and tabulates their results."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from typing import Iterable, NamedTuple, Sequence

from tpudist import machine
from tpudist.errors import TpudistError
from tpudist.toolbox.table import Row
from tpudist.tools.matrix import environments, running


class Result(NamedTuple):
    """The outcome of the command on one release."""

    # the row's name, and the versions it had; "" where it was not set up
    release: str
    tensorflow: str
    python: str
    word: str  # one of the constants below
    code: int | None  # the command's exit code, or None
    seconds: float | None  # its time, or None
    line: str  # the first failing line, or the reason


PASSED, FAILED, NOT_SET_UP, INTERRUPTED, NOT_RUN, READY = (
    "passed",
    "failed",
    "not set up",
    "interrupted",
    "not run",
    "ready",
)

_HEAD = ("release", "TensorFlow", "Python", "result", "seconds", "first failing line")


def exit_code(results: Iterable[Result]) -> int:
    """0 if all passed, 1 if a command failed, 2 if one was not set up, 130 after Ctrl-C."""
    words = {result.word for result in results}
    for word, code in ((INTERRUPTED, 130), (NOT_SET_UP, 2), (FAILED, 1)):
        if word in words:
            return code
    return 0


def table(results: Sequence[Result], width: int | None = None) -> str:
    """The results as text, one line a release; only the last column is cut to fit."""
    width = width or shutil.get_terminal_size((120, 24)).columns
    rows = [_HEAD]
    for each in results:
        word = "failed (%s)" % each.code if each.word == FAILED else each.word
        seconds = "" if each.seconds is None else "%.1f" % each.seconds
        versions = (each.tensorflow or "-", each.python or "-")
        rows.append((each.release, *versions, word, seconds, each.line.replace("\n", " ")))
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD) - 1)]
    lines = []
    for row in rows:
        start = "  ".join(cell.ljust(size) for cell, size in zip(row, widths))
        line, longest = (start + "  " + row[-1]).rstrip(), max(width, len(start) + 22)
        lines.append(line if len(line) <= longest else line[: longest - 3] + "...")
    return "\n".join(lines) + "\n"


def run_all(rows: Sequence[Row], options: argparse.Namespace) -> list[Result]:
    """Runs the rows one after the other, until Ctrl-C or --fail-fast; returns all results."""
    environments.find_uv()
    folder, _ = environments.split_project(options.project)
    kept = environments.of_project(machine.cache_folder(options.cache), folder)
    results = [_without_a_run(row, NOT_RUN) for row in rows]
    stopping = (INTERRUPTED, FAILED, NOT_SET_UP) if options.fail_fast else (INTERRUPTED,)
    for number, row in enumerate(rows):
        running.echo("== %s (%d of %d)\n" % (row.release, number + 1, len(rows)))
        results[number] = _result(row, kept, options)
        if results[number].word in stopping:
            break
    return results


def _result(row: Row, kept: str, options: argparse.Namespace) -> Result:
    """The `Result` of one release; `kept` is the folder of the project's environments."""
    result = _without_a_run(row, READY)
    recipe = environments.Recipe(
        row, options.project, ["pytest"] + options.extra, environments.own_tpudist()
    )
    try:
        environment = environments.prepare(recipe, os.path.join(kept, row.release), options.fresh)
        result = result._replace(tensorflow=environment.tensorflow, python=environment.python)
        running.echo("   TensorFlow %s on Python %s\n" % (result.tensorflow, result.python))
        if not options.arguments:
            return result
        start = time.time()
        code, text = running.run(
            [each.replace("{release}", row.release) for each in options.arguments],
            running.variables(environment, row, options.tpu),
        )
        result = result._replace(code=code, seconds=time.time() - start)
        if code == 0:
            return result._replace(word=PASSED)
        return result._replace(word=FAILED, line=running.first_failing_line(text))
    except TpudistError as error:
        sys.stderr.write("tpudist: error: %s\n" % error)
        return result._replace(word=NOT_SET_UP, line=error.seen)
    except KeyboardInterrupt:
        return result._replace(word=INTERRUPTED)


def _without_a_run(row: Row, word: str) -> Result:
    return Result(row.release, "", "", word, None, None, "")
