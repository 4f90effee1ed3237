"""Finds libtpu, the library of the TPU compiler, and asks it in a process of its own.

It comes from PyPI (``pip install 'tpudist[compile]'``), or is a file that
``TPUDIST_LIBTPU`` names. It is Google's and under Google Cloud's terms, not
open source; tpudist does not contain it.
"""

from __future__ import annotations

import glob
import importlib.util
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
from typing import Any, Mapping, NamedTuple

from tpudist.errors import CompileError

#: How to get the newest libtpu on a Python that pip offers none for.
DOWNLOAD = (
    "pip download --no-deps --only-binary=:all: --python-version 3.12 "
    "--platform manylinux_2_31_x86_64 libtpu && unzip libtpu-*.whl, then "
    "TPUDIST_LIBTPU=libtpu/libtpu.so"
)

_FILE = "libtpu.so"

_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")

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

#: Codes of answers in place of the worker's, if that ended or was ended; and the worker's own of
#: a library that lacks a function.
CRASHED, TIMED_OUT, TOO_OLD = "CRASHED", "TIMED_OUT", "TOO_OLD"

#: Lines that say why the library ended its process, the clearest first.
_CRASH_REASONS = (re.compile(r"^F\d{4} "), re.compile(r"Check failed"), re.compile(r"^\*\*\* SIG"))

#: How many bytes of the library's output are searched for the reason of a crash.
_TAIL = 20000


class Libtpu(NamedTuple):
    """A libtpu on this machine."""

    path: str  # of the library
    version: str  # of its distribution, such as ``"0.0.52"``; "" if it has none


def find(environ: Mapping[str, str] | None = None) -> Libtpu:
    """Finds the libtpu that TPUDIST_LIBTPU names, else that of the installed package.

    Raises:
      CompileError: there is none, or libtpu cannot run on this machine.
    """
    environ = os.environ if environ is None else environ
    machine = platform.machine()
    if sys.platform != "linux" or machine.lower() not in ("x86_64", "amd64"):
        raise CompileError(
            "this machine is %s on %s" % (sys.platform, machine),
            "libtpu is built for x86-64 Linux only",
            "run it in CI or in a container of linux/amd64",
        )
    path = environ.get("TPUDIST_LIBTPU")
    if not path:
        path = _installed()
    elif os.path.isdir(path):
        path = os.path.join(path, _FILE)
    if path is None:
        raise CompileError(
            "no libtpu is installed",
            "it is the TPU compiler, and tpudist does not contain it",
            "pip install 'tpudist[compile]'; or " + DOWNLOAD,
        )
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(path):
        raise CompileError(
            "TPUDIST_LIBTPU=%s" % environ.get("TPUDIST_LIBTPU", path),
            "there is no such file",
            "the path of a libtpu.so; " + DOWNLOAD,
        )
    beside = glob.escape(os.path.dirname(os.path.dirname(path)))
    named = glob.glob(os.path.join(beside, "libtpu-*.dist-info"))
    version = os.path.basename(named[0])[len("libtpu-") : -len(".dist-info")] if named else ""
    return Libtpu(path, version)


def _installed() -> str | None:
    """Returns the path of the installed package's library, without importing it; else None."""
    spec = importlib.util.find_spec("libtpu")
    folders = spec.submodule_search_locations if spec else None
    paths = (os.path.join(folder, _FILE) for folder in folders or ())
    return next(filter(os.path.isfile, paths), None)


def ask(request: Mapping[str, Any], timeout: float | None = None) -> dict[str, Any]:
    """Returns the worker's answer to a request; of code CRASHED or TIMED_OUT if it gave none."""
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
        answer, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        return {
            "ok": False,
            "code": TIMED_OUT,
            "message": "the compiler did not finish within %g s" % (timeout or 0),
        }
    finally:
        _end(process)
    code = process.returncode
    if code == 0 and answer:
        return json.loads(answer.decode())
    text = errors[-_TAIL:].decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()]
    reasons = [line for pattern in _CRASH_REASONS for line in lines if pattern.search(line)]
    reason = (reasons or lines or ["it printed nothing"])[0]
    how = "with exit code %d" % code
    if code < 0:
        how = "by signal %d (%s)" % (-code, signal.Signals(-code).name)
    return {"ok": False, "code": CRASHED, "message": "the compiler ended %s: %s" % (how, reason)}


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the worker's environment, from the user's."""
    inherited = {name: environ[name] for name in _INHERITED if name in environ}
    return dict(inherited, **_WITHOUT_TPU)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and all that it started, if it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()
