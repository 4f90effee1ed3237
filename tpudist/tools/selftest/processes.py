"""One process a surface, one after the other: a TPU serves one at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from tpudist import machine, surfaces
from tpudist.tools.selftest.worker import MARK

if TYPE_CHECKING:
    from typing import Any


def all_surfaces(tpu: str, end: float) -> list[dict[str, Any]]:
    """What the processes of all surfaces report, each line with its ``era``.

    Args:
      tpu: name of the TPU.
      end: of `time.monotonic()`; what is not done then is told.
    """
    lines: list[dict[str, Any]] = []
    for era in surfaces.ERAS:
        lines += [dict(line, era=era) for line in one_surface(era, tpu, end - time.monotonic())]
    return lines


def one_surface(era: str, tpu: str, seconds: float) -> list[dict[str, Any]]:
    """What the process of one surface reports within some seconds."""
    if seconds <= 0:
        return [{"kind": "skipped", "program": "all", "why": "the time was up"}]
    variables = dict(os.environ, PYTHONPATH=_path(), PYTHONWARNINGS="ignore")
    variables.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    variables.pop(machine.TPU, None)
    with subprocess.Popen(
        [sys.executable, "-m", "tpudist.tools.selftest.worker", era, tpu],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    ) as process:
        late = threading.Timer(seconds, process.kill)
        late.start()
        try:
            out, error = process.communicate()
        finally:
            late.cancel()
    lines = [json.loads(each[len(MARK) :]) for each in out.splitlines() if each.startswith(MARK)]
    if process.returncode:
        last = (error.strip().splitlines() or ["nothing"])[-1]
        lines.append(_ended(process.returncode, last, seconds))
    return lines


def _path() -> str:
    package = os.path.dirname(machine.PACKAGE)
    return os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), package)))


def _ended(code: int, last: str, seconds: float) -> dict[str, Any]:
    if code == -9:
        return {
            "kind": "failed",
            "program": "the rest",
            "error": "ended after %.0f seconds, when the time was up" % seconds,
        }
    return {"kind": "failed", "program": "the rest", "error": "exit code %d: %s" % (code, last)}
