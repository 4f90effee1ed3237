"""Runs the user's command in an environment; what it prints is shown as it comes."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import subprocess
import sys
from typing import Any, Mapping

from tpudist.errors import MatrixError
from tpudist.toolbox.table import Row
from tpudist.tools.matrix.environments import Environment

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

#: Lines that say what failed, best first; the first line of the best kind counts.
_TELLING = (
    re.compile(r"^(FAILED|ERROR) "),
    re.compile(r"^E  +\S"),
    re.compile(r"^[\w.]*(Error|Exception|Interrupt)\b"),
)

#: How long a command gets to end by itself after Ctrl-C, in seconds.
_PATIENCE = 10


def variables(environment: Environment, row: Row, tpu: str) -> dict[str, str]:
    """The variables that a command in an environment gets; the row's own win."""
    variables = dict(
        os.environ, TPUDIST_TPU=tpu, TPUDIST_EXPECT_TF=row.minor, VIRTUAL_ENV=environment.folder
    )
    variables.update(row.environment)
    variables["PATH"] = environment.scripts + os.pathsep + variables.get("PATH", os.defpath)
    variables.pop("PYTHONHOME", None)
    return variables


def run(command: list[str], env: Mapping[str, str]) -> tuple[int, str]:
    """Runs a command, and shows what it prints; returns (exit code, everything it printed).

    Its first word is looked for in the environment `env`, as :func:`variables` returns it.

    Raises:
      MatrixError: there is no such command.
      KeyboardInterrupt: Ctrl-C, once the command has ended too.
    """
    program = shutil.which(command[0], path=env["PATH"])
    if program is None:
        raise MatrixError(
            "command %r" % command[0],
            "the environment has no such command",
            "--with %s, or a command that it has" % command[0],
        )
    process = subprocess.Popen(
        [program] + command[1:], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    printed: Any = process.stdout
    try:
        decoder, pieces = codecs.getincrementaldecoder("utf-8")("replace"), [""]
        data = b"-"
        while data:  # piece by piece, so that a line of dots is shown as it grows
            data = os.read(printed.fileno(), 65536)
            pieces.append(decoder.decode(data, final=not data))
            echo(pieces[-1])
        return process.wait(), "".join(pieces)
    except BaseException:
        end(process)
        raise
    finally:
        printed.close()


def echo(text: str) -> None:
    """Shows a text on standard output, at once."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def end(process: subprocess.Popen[bytes]) -> None:
    """Waits for a command that got the same Ctrl-C; ends it if it does not end."""
    for stop in (None, process.terminate, process.kill):
        if stop:
            stop()
        try:
            process.wait(_PATIENCE)
            return
        except subprocess.TimeoutExpired:
            continue


def first_failing_line(text: str) -> str:
    """The line that best says what failed; the last line if none is telling."""
    lines = [line.rstrip() for line in _COLOUR.sub("", text).splitlines() if line.strip()]
    for pattern in _TELLING:
        for line in lines:
            if pattern.match(line):
                return line
    return lines[-1] if lines else ""
