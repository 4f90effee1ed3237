"""Reads one request from standard input, compiles it, and prints one line of JSON.

Request: {"libtpu": path, "topology": name, "options": {of the topology},
"parent": pid, and, to compile: "hlo": base64, "replicas", "partitions", "level"}.

Answer: {"ok": true, "pjrt", "kind", "devices",
"attributes", "memory", "cost", "optimized": base64, "seconds", "cpu_seconds",
"peak_bytes"}, or {"ok": false, "code", "message", ...what was known before it failed}.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import signal
import sys
import time
from typing import Any

import pjrt  # type: ignore[import-not-found]  # beside this file, which is run as a program

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answers one request."""
    out = os.dup(1)
    os.dup2(2, 1)  # so that what the library prints is not part of the answer
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # so that a crash writes no core file
    _end_with(request["parent"])
    answer: dict[str, Any] = {"ok": False}
    try:
        _compile(request, answer)
        answer["ok"] = True
    except pjrt.PjrtError as error:
        answer.update(code=error.code, message=error.message)
    except OSError as error:
        answer.update(code="NOT_FOUND", message=str(error))
    answer.update(_resource_usage())
    with os.fdopen(out, "w") as file:
        json.dump(answer, file)
        file.write("\n")


def _end_with(parent: int) -> None:
    """Asks Linux to kill this process when the parent's process ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent has ended before
        os._exit(1)


def _compile(request: dict[str, Any], answer: dict[str, Any]) -> None:
    """Compiles the program of a request, and adds what is known to the answer."""
    api = pjrt.Api(request["libtpu"])
    answer["pjrt"] = "%d.%d" % api.version
    topology = pjrt.Topology(api, request["topology"], request["options"])
    ids = topology.device_ids()
    answer.update(devices=len(ids), kind=topology.kind(), attributes=topology.attributes())
    if "hlo" not in request:
        return
    start = time.time()
    executable = topology.compile(
        base64.b64decode(request["hlo"]),
        pjrt.compile_options(request["replicas"], request["partitions"], ids, request["level"]),
    )
    answer["seconds"] = time.time() - start
    answer.update(
        memory=executable.memory(),
        cost=executable.cost(),
        optimized=base64.b64encode(executable.optimized()).decode(),
    )


def _resource_usage() -> dict[str, float]:
    """Returns the CPU seconds and the peak resident memory of this process alone.

    ``ru_maxrss`` would count what the parent had when it forked.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        peak = [int(line.split()[1]) for line in file if line.startswith("VmHWM:")]
    return {"cpu_seconds": used.ru_utime + used.ru_stime, "peak_bytes": 1024 * sum(peak)}


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # the library's own shutdown may hang or crash
