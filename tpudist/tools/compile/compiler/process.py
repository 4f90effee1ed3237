"""Runs the worker process with a time limit and an environment of its own, and ends it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Mapping

_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker")

#: The variables of the user that the worker gets. TPU_*, XLA_FLAGS and
#: LIBTPU_INIT_ARGS would change the answer from machine to machine.
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")

#: The variables that libtpu needs where there is no TPU.
_WITHOUT_TPU = {
    "TPU_SKIP_MDS_QUERY": "1",  # else it asks Google's metadata server for minutes
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # else one process at a time, by a lock file
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_LOG_DIR": "disabled",  # else /tmp/tpu_logs
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}

#: Codes of answers in place of the worker's, if that ended or was ended.
CRASHED, TIMED_OUT = "CRASHED", "TIMED_OUT"

#: How often `progress` is called, in seconds.
_TICK = 0.2

#: Lines that say why the library ended its process, the clearest first.
_CRASH_REASONS = (re.compile(r"^F\d{4} "), re.compile(r"Check failed"), re.compile(r"^\*\*\* SIG"))

#: How many bytes of the library's output are searched for the reason of a crash.
_TAIL = 20000


def ask(
    request: Mapping[str, Any],
    timeout: float | None = None,
    progress: Callable[[float], object] | None = None,
) -> dict[str, Any]:
    """Starts the worker, and returns its answer to a request.

    Args:
      request: see ``tpudist.tools.compile.compiler.worker.__main__``, without "parent".
      timeout: in seconds; None waits for ever.
      progress: called with the seconds since the start, a few times a second.

    Returns:
      A dict. If the worker gave no answer, ``"ok"`` is False and "code" is
      CRASHED or TIMED_OUT. The process has ended, whatever is raised.
    """
    with tempfile.TemporaryFile() as stdin:  # a pipe would have to be written to while waiting
        stdin.write(json.dumps(dict(request, parent=os.getpid())).encode())
        stdin.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", _WORKER],
            env=environment(os.environ),
            cwd=os.sep,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    try:
        answer, errors = _output(process, timeout, progress)
    except subprocess.TimeoutExpired:
        return {
            "ok": False,
            "code": TIMED_OUT,
            "message": "the compiler did not finish within %g s" % (timeout or 0),
        }
    finally:
        _end(process)
    if process.returncode == 0 and answer:
        return json.loads(answer.decode())
    return _crashed(process.returncode, errors[-_TAIL:].decode("utf-8", "replace"))


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the worker's environment.

    Args:
      environ: the user's.
    """
    inherited = {name: environ[name] for name in _INHERITED if name in environ}
    return dict(inherited, **_WITHOUT_TPU)


def _output(
    process: subprocess.Popen[bytes],
    timeout: float | None,
    progress: Callable[[float], object] | None,
) -> tuple[bytes, bytes]:
    """Waits for a process; returns its output and its errors.

    Raises:
      TimeoutExpired: it did not end within the time limit.
    """
    start = time.monotonic()
    while True:
        passed = time.monotonic() - start
        if timeout is not None and passed >= timeout:
            raise subprocess.TimeoutExpired(process.args, timeout)
        if progress:
            progress(passed)
        try:
            return process.communicate(timeout=_TICK)
        except subprocess.TimeoutExpired:
            continue


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and all that it started, if it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


def _crashed(code: int, errors: str) -> dict[str, Any]:
    """Returns the answer for a worker that ended without one."""
    lines = [line for line in errors.splitlines() if line.strip()]
    reasons = [line for pattern in _CRASH_REASONS for line in lines if pattern.search(line)]
    reason = (reasons or lines or ["it printed nothing"])[0]
    how = "with exit code %d" % code
    if code < 0:
        how = "by signal %d (%s)" % (-code, signal.Signals(-code).name)
    return {"ok": False, "code": CRASHED, "message": "the compiler ended %s: %s" % (how, reason)}
