"""``tpudist selftest``: the programs of all surfaces on the TPU at hand, against records.

Nobody who wrote this has a TPU: whoever has one can tell with it whether tpudist is right
there. Each surface runs in a process of its own (:mod:`worker`), which reports value by
value, so that a crash or a hang costs the rest of one surface. To change: a program in a
module of :mod:`tpudist.tools.selftest.programs`, then ``python -m tests.tools.selftest.record``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from typing import Any

from tpudist import console, files, machine, surfaces
from tpudist.cloud import places
from tpudist.errors import ArgumentError, MissingTensorFlowError
from tpudist.toolbox import installed

#: What a worker's line begins with if it is the report's: programs and libraries print too.
MARK = "@selftest "


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "selftest",
        help="the programs of all surfaces on the TPU at hand, against recorded values",
        description="Runs programs of each surface on the TPU at hand (a virtual one where "
        "there is none), compares what they give with records, and writes a report. "
        "Sets nothing, and says what it could not try. Exit code 1 if a value differs, 3 if the "
        "time was up before the end.",
    )
    verb.add_argument("--tpu", metavar="NAME", help="a TPU's name or address, local, or virtual:8")
    told = "end it after that time; by default 280"
    verb.add_argument("--timeout", type=float, metavar="SECONDS", default=280.0, help=told)
    name = "tpudist-selftest.json"
    verb.add_argument("--json", metavar="FILE", default=name, help="by default " + name)
    return verb


def run(options: argparse.Namespace) -> int:
    """Runs the programs, writes the report, prints what came of it.

    Returns 0 if every value that was tried agrees, 1 if one differs or a program fails, else 3 if
    the time was up before the end.
    """
    if importlib.util.find_spec("tensorflow") is None:
        raise MissingTensorFlowError(
            "no TensorFlow beside %s" % sys.executable,
            "the programs of the self-test run on it",
            'pip install "tpudist[tensorflow]", or the TensorFlow of your TPU',
        )
    from tpudist.tools.selftest import report
    from tpudist.virtual import system

    folder = os.path.dirname(os.path.abspath(options.json))
    if not os.path.isdir(folder):
        raise ArgumentError(
            "a report to %s" % options.json, "there is no folder %s" % folder, "mkdir -p " + folder
        )
    name = tpu_at_hand(options.tpu)
    system.check(name)
    told = "tpudist selftest on %s, for %d seconds at most (--timeout)"
    console.note(told % (name, options.timeout), sys.stdout)
    start = time.monotonic()
    lines = all_surfaces(name, start + options.timeout)
    made = report.made(name, lines, time.monotonic() - start)
    files.write(options.json, json.dumps(made, indent=1, sort_keys=True) + "\n")
    print(report.text(made, options.json))
    return int(not made["ok"]) or 3 * bool(made["unfinished"])


def tpu_at_hand(name: str | None) -> str:
    """The TPU to test: the one named, else what this machine has, else a virtual one."""
    variables = {} if name else dict(os.environ)
    return places.of(name, variables, installed.tpu_chips()).name or "virtual:8"


def all_surfaces(tpu: str, end: float) -> list[dict[str, Any]]:
    """The reports of all surfaces' processes until `end`, each line with its ``era``."""
    lines: list[dict[str, Any]] = []
    for era in surfaces.ERAS:
        start = time.monotonic()
        with console.working("programs of %s" % surfaces.spelled(era)):
            said = one_surface(era, tpu, end - start)
        tried = len({each["program"] for each in said if each["kind"] == "value"})
        told = "%s: %d programs in %d s"
        told %= surfaces.spelled(era), tried, time.monotonic() - start
        console.note(told, sys.stdout)
        lines += [dict(line, era=era) for line in said]
    return lines


def one_surface(era: str, tpu: str, seconds: float) -> list[dict[str, Any]]:
    """The report of one surface's process within some seconds, and what it did not come to."""
    if seconds <= 0:
        return [{"kind": "unfinished", "program": "all"}]
    variables = installed.quiet_variables()
    variables.pop(machine.TPU, None)
    command = [sys.executable, "-m", "tpudist.tools.selftest.worker", era, tpu]
    with subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        is_late = False
        try:
            out, error = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            is_late = True
            process.kill()
            out, error = process.communicate()
    lines = [json.loads(each[len(MARK) :]) for each in out.splitlines() if each.startswith(MARK)]
    if is_late:
        names: list[str] = [name for each in lines for name in each.get("names", ())]
        done = {each.get("program") for each in lines}
        left = [name for name in names if name not in done] if names else ["all"]
        lines += [{"kind": "unfinished", "program": each} for each in left]
    elif process.returncode:
        last = (error.strip().splitlines() or ["nothing"])[-1]
        why = "exit code %d: %s" % (process.returncode, last)
        lines.append({"kind": "failed", "program": "the rest", "error": why})
    return lines
