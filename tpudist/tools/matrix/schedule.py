"""Runs the releases, one after the other or several at once, and tabulates their results."""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Callable, Iterable, NamedTuple, Sequence

from tpudist import console, machine
from tpudist.errors import MatrixError, TpudistError
from tpudist.toolbox.table import Row
from tpudist.tools.matrix import cache, environments, running

if TYPE_CHECKING:
    Echo = Callable[[str], object]


class Result(NamedTuple):
    """How a release went."""

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
    """The results as text, one line a release, of which only the last column is cut to fit."""
    width = width or shutil.get_terminal_size((120, 24)).columns
    rows = [_HEAD] + [_cells(result) for result in results]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD) - 1)]
    lines = []
    for row in rows:
        line = "  ".join(cell.ljust(size) for cell, size in zip(row, widths))
        lines.append(_cut(line + "  " + row[-1], max(width, len(line) + 22)))
    return "\n".join(lines) + "\n"


def _cells(result: Result) -> tuple[str, ...]:
    word = result.word
    if word == FAILED:
        word = "failed (%s)" % result.code
    seconds = "" if result.seconds is None else "%.1f" % result.seconds
    return (
        result.release,
        result.tensorflow or "-",
        result.python or "-",
        word,
        seconds,
        result.line.replace("\n", " "),
    )


def _cut(line: str, width: int) -> str:
    line = line.rstrip()
    return line if len(line) <= width else line[: width - 3] + "..."


#: Environments are made one at a time: a build of the user's project writes
#: into the project's own folder.
_SETTING_UP = threading.Lock()
_SHOWING = threading.Lock()


def run_all(rows: Sequence[Row], options: argparse.Namespace) -> list[Result]:
    """A `Result` of each row, whatever happens to any of them.

    A MatrixError is raised before anything is done.
    """
    if options.jobs < 1:
        raise MatrixError(
            "--jobs %d" % options.jobs, "no release would run", "--jobs 1, or more to run several"
        )
    environments.find_uv()
    folder, _ = environments.split_project(options.project)
    root = machine.cache_folder(options.cache)
    for gone in cache.prune(root):
        console.note("   removed %s" % gone, sys.stdout)
    schedule = Schedule(rows, cache.of_project(root, folder), options)
    return schedule.run() if options.jobs == 1 else schedule.run_side_by_side()


class Schedule:
    """Releases that wait, run and have run; `kept` is the folder of the project's environments."""

    def __init__(self, rows: Sequence[Row], kept: str, options: argparse.Namespace) -> None:
        self._kept, self._options = kept, options
        self._rows = list(rows)
        self._waiting = collections.deque(range(len(rows)))
        self._at_work: set[int] = set()
        self._ended: collections.deque[int] = collections.deque()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._stopped = self._interrupted = False
        self._results = [_without_a_run(row, NOT_RUN) for row in rows]

    def run(self) -> list[Result]:
        """The results of all, one after the other; what they print is shown as it comes."""
        while self._waiting and not self._stopped:
            self._take(self._waiting.popleft(), running.echo)
        return self._results

    def run_side_by_side(self) -> list[Result]:
        """The results of all, ``options.jobs`` at once; each is shown when it is done."""
        workers = [threading.Thread(target=self._work) for _ in range(self._options.jobs)]
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                while worker.is_alive():
                    worker.join(0.2)
                    self._settle()
        except KeyboardInterrupt:
            self._interrupt(workers)
        return self._results

    def _settle(self) -> None:
        """Believes the results so far: no Ctrl-C had come when their commands ended.

        Python tells the main thread alone of a Ctrl-C, up to 0.2 seconds late if
        another took it; a command may have ended of it by then.
        """
        while self._ended:
            self._at_work.discard(self._ended.popleft())

    def _interrupt(self, workers: Sequence[threading.Thread]) -> None:
        """Ends the running commands, which got the same Ctrl-C; a late worker does nothing."""
        self._stopped = self._interrupted = True
        interrupted = {number for number in self._at_work if self._results[number].word != PASSED}
        for process in self._processes:
            running.end(process)
        for worker in workers:
            if worker.is_alive():
                worker.join()
        for number in interrupted:
            self._results[number] = self._results[number]._replace(
                word=INTERRUPTED, code=None, line=""
            )

    def _work(self) -> None:
        while not self._stopped:
            try:
                number = self._waiting.popleft()
            except IndexError:
                return
            said: list[str] = []
            self._at_work.add(number)
            try:
                self._take(number, said.append)
            finally:
                self._ended.append(number)
                with _SHOWING:
                    running.echo("".join(said))

    def _take(self, number: int, echo: Echo) -> None:
        """Runs one release; after Ctrl-C, or a failure with --fail-fast, no other starts."""
        row = self._rows[number]
        echo("== %s (%d of %d)\n" % (row.release, number + 1, len(self._rows)))
        self._results[number] = result = self._result(row, echo)
        stopping = (FAILED, NOT_SET_UP) if self._options.fail_fast else ()
        if result.word in stopping + (INTERRUPTED,):
            self._stopped = True

    def _result(self, row: Row, echo: Echo) -> Result:
        """The `Result` of one release."""
        result = _without_a_run(row, READY)
        try:
            environment = self._environment(row, echo)
            result = result._replace(tensorflow=environment.tensorflow, python=environment.python)
            echo("   TensorFlow %s on Python %s\n" % (result.tensorflow, result.python))
            if not self._options.arguments:
                return result
            return self._command(row, environment, echo, result)
        except TpudistError as error:
            said = "tpudist: error: %s\n" % error
            sys.stderr.write(said) if echo is running.echo else echo(said)
            return result._replace(word=NOT_SET_UP, line=error.seen)
        except KeyboardInterrupt:
            return result._replace(word=INTERRUPTED)

    def _environment(self, row: Row, echo: Echo) -> environments.Environment:
        options = self._options
        recipe = environments.Recipe(
            row, options.project, ["pytest"] + options.extra, environments.own_tpudist()
        )
        folder = os.path.join(self._kept, row.release)
        with _SETTING_UP:
            return environments.prepare(
                recipe, folder, options.fresh, lambda line: echo(line + "\n")
            )

    def _command(
        self, row: Row, environment: environments.Environment, echo: Echo, result: Result
    ) -> Result:
        """The `Result` of the command in a ready environment."""
        start = time.time()
        code, text = running.run(
            [each.replace("{release}", row.release) for each in self._options.arguments],
            running.variables(environment, row, self._options.tpu),
            echo,
            self._note,
        )
        result = result._replace(code=code, seconds=time.time() - start)
        if code == 0:
            return result._replace(word=PASSED)
        return result._replace(word=FAILED, line=running.first_failing_line(text))

    def _note(self, process: subprocess.Popen[bytes]) -> None:
        """Notes a command that has started; one that came too late for Ctrl-C ends."""
        self._processes.append(process)
        if self._interrupted:
            process.terminate()


def _without_a_run(row: Row, word: str) -> Result:
    return Result(row.release, "", "", word, None, None, "")
