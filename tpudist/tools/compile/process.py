"""Runs the worker: with a time limit, in an environment of its own, leaving nothing behind."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker")

#: What of the user's environment the worker gets. TPU_*, XLA_FLAGS and
#: LIBTPU_INIT_ARGS would change the answer from machine to machine.
_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")

#: What libtpu needs where there is no TPU.
_SET = {
    "TPU_SKIP_MDS_QUERY": "1",  # else it asks Google's metadata server for minutes
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # else one process at a time, by a lock file
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_LOG_DIR": "disabled",  # else /tmp/tpu_logs
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}

#: Codes of answers that the worker could not give itself.
CRASHED, TIMED_OUT = "CRASHED", "TIMED_OUT"

#: How often `progress` is called, in seconds.
_TICK = 0.2

#: Lines that say why the library ended itself, best first.
_TELLING = (re.compile(r"^F\d{4} "), re.compile(r"Check failed"), re.compile(r"^\*\*\* SIG"))

#: How much of what the library printed is read for the reason of a crash.
_TAIL = 20000


def ask(request, timeout=None, progress=None):
    """The worker's answer to a request.

    Args:
      request: see ``tpudist.tools.compile.worker.__main__``, without "parent".
      timeout: in seconds; None waits for ever.
      progress: called with the seconds since the start, a few times a second.

    Returns:
      A dict. Where the worker gave no answer, ``"ok"`` is False and "code" is
      CRASHED or TIMED_OUT. No process is left, whatever is raised.
    """
    with tempfile.TemporaryFile() as asked:  # a pipe would have to be written to while waiting
        asked.write(json.dumps(dict(request, parent=os.getpid())).encode())
        asked.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", _WORKER],
            env=environment(os.environ),
            cwd=os.sep,
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    try:
        answer, errors = _wait(process, timeout, progress)
    except subprocess.TimeoutExpired:
        return {
            "ok": False,
            "code": TIMED_OUT,
            "message": "the compiler did not finish within %g s" % timeout,
        }
    finally:
        _end(process)
    if process.returncode == 0 and answer:
        return json.loads(answer.decode())
    return _crashed(process.returncode, errors[-_TAIL:].decode("utf-8", "replace"))


def environment(environ):
    """The worker's environment.

    Args:
      environ: the user's.
    """
    found = {name: environ[name] for name in _PASSED if name in environ}
    found.update(_SET)
    return found


def _wait(process, timeout, progress):
    """What a process printed; TimeoutExpired after the time limit."""
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


def _end(process):
    """Kills a process and all that it started, if it runs still."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdout, process.stderr):
        pipe.close()


def _crashed(code, errors):
    lines = [line for line in errors.splitlines() if line.strip()]
    telling = [line for pattern in _TELLING for line in lines if pattern.search(line)]
    said = (telling or lines or ["it printed nothing"])[0]
    how = "with exit code %d" % code
    if code < 0:
        how = "by signal %d (%s)" % (-code, signal.Signals(-code).name)
    return {"ok": False, "code": CRASHED, "message": "the compiler ended %s: %s" % (how, said)}
