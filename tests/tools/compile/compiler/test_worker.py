"""The worker process: its answers, its end, and that it leaves nothing behind."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from tests import ROOT
from tpudist.tools.compile.compiler import libtpu

#: A library that does what a broken compiler may do, in place of libtpu.
ACTS = {
    "aborts": 'fputs("noise\\nF0102 03:04:05.6 7 scatter.cc:8] Check failed: x\\n", stderr);'
    " abort();",
    "exits": "exit(3);",
    "sleeps": "for (;;) pause();",
    "starts a process that sleeps": "if (fork() == 0) for (;;) pause(); for (;;) pause();",
}


@pytest.fixture
def broken(tmp_path, request, monkeypatch):
    """The path of a library that misbehaves when it is loaded; see `left`."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    source = tmp_path / "broken.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
        "void *GetPjrtApi(void) { %s return 0; }\n" % ACTS[request.param]
    )
    library = tmp_path / "libtpu.so"
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    except FileNotFoundError:
        pytest.skip("no C compiler to make a broken library with")
    return str(library)


def acting(*acts):
    return pytest.mark.parametrize("broken", acts, indirect=True)


def request(path, **more):
    return dict({"libtpu": path, "topology": "v5e:2x4", "options": {}}, **more)


def left(library):
    """Returns the ids of a test's processes, which have the library's folder in PATH."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % entry, "rb") as file:
                if b"PATH=%s:" % os.path.dirname(library).encode() in file.read():
                    found.append(int(entry))
        except OSError:
            continue
    return set(found) - {os.getpid()}


def test_the_worker_answers(compiler):
    answer = libtpu.ask(request(compiler.path))
    assert answer["ok"] and answer["devices"] == 8 and answer["kind"] == "TPU v5 lite"


def test_an_error_of_the_library_is_an_answer(compiler):
    answer = libtpu.ask(request(compiler.path, options={"wrap": [1, 1]}))
    assert (answer["ok"], answer["code"]) == (False, "INVALID_ARGUMENT")
    assert "wrap must be a list of 3 integers" in answer["message"]


def test_a_missing_library_is_an_answer(tmp_path):
    answer = libtpu.ask(request(str(tmp_path / "none.so")))
    assert (answer["ok"], answer["code"]) == (False, "NOT_FOUND")
    assert "none.so" in answer["message"]


def test_a_wrong_program_is_an_answer(compiler):
    answer = libtpu.ask(request(compiler.path, hlo="", compile_options=""))
    assert not answer["ok"] and answer["code"] != libtpu.CRASHED and answer["message"]


@pytest.mark.parametrize("seconds", [0, 0.6])
def test_a_large_request_reaches_a_worker_that_starts_slowly(
    compiler, tmp_path, monkeypatch, seconds
):
    """A pipe has 64 KiB; writing more would wait for the reader."""
    slow = tmp_path / "python"
    slow.write_text('#!/bin/sh\nsleep %s\nexec %s "$@"\n' % (seconds, sys.executable))
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    answer = libtpu.ask(request(compiler.path, note="x" * (1 << 20)), timeout=60)
    assert answer["ok"], answer


@acting("aborts")
def test_a_crash_is_reported_with_its_first_fatal_line(broken):
    answer = libtpu.ask(request(broken))
    assert (answer["ok"], answer["code"]) == (False, libtpu.CRASHED)
    assert "signal 6 (SIGABRT): F0102" in answer["message"]
    assert answer["message"].endswith("Check failed: x")


@acting("exits")
def test_a_library_that_exits_is_a_crash(broken):
    answer = libtpu.ask(request(broken))
    assert answer["code"] == libtpu.CRASHED and "exit code 3" in answer["message"]


@acting("sleeps", "starts a process that sleeps")
def test_a_library_that_hangs_is_ended_with_its_children(broken):
    answer = libtpu.ask(request(broken), timeout=0.5)
    assert (answer["ok"], answer["code"]) == (False, libtpu.TIMED_OUT)
    assert "0.5 s" in answer["message"]
    _gone(broken)


def _gone(library):
    """Waits until no worker is left; a killed process is gone once init has reaped it."""
    _until(lambda: not left(library), "no worker")


def _until(holds, what):
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@acting("starts a process that sleeps")
def test_an_interrupt_ends_the_worker(broken):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            libtpu.ask(request(broken))
    finally:
        signal.signal(signal.SIGALRM, before)
    _gone(broken)


@acting("sleeps")
def test_the_worker_ends_with_its_parent(broken):
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            (
                "from tpudist.tools.compile.compiler import libtpu\n"
                "libtpu.ask({'libtpu': %r, 'topology': 'v5e:2x4', 'options': {}})" % broken
            ),
        ],
        cwd=ROOT,
    )
    _until(lambda: len(left(broken)) == 2, "the process and its worker")
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    _gone(broken)


def test_nothing_is_left_behind(compiler, tmp_path, monkeypatch):
    for name in ("home", "tmp", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path / "here")
    before = _traces()
    libtpu.ask(request(compiler.path))
    # Dividing by a host without chips crashes newer libraries: crashes leave nothing either.
    libtpu.ask({"libtpu": compiler.path, "topology": "v5e:0x4", "options": {}})
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []
    assert _traces() == before


@acting("aborts")
def test_a_crash_leaves_no_core(broken):
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if hard == 0:
        pytest.skip("this machine lets no process leave a core")
    before = _traces()
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        libtpu.ask(request(broken))
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    assert _traces() == before


def _traces():
    """Returns the files that libtpu may write in /tmp, and all in the root folder."""
    return sorted(os.listdir(os.sep)) + sorted(
        name for name in os.listdir("/tmp") if name.startswith(("libtpu", "tpu_"))
    )


def test_settings_of_other_programs_do_not_reach_the_worker(compiler, monkeypatch):
    given = {
        "TPU_NAME": "mine",
        "XLA_FLAGS": "--nonsense",
        "LIBTPU_INIT_ARGS": "--nonsense",
        "PYTHONPATH": "/nowhere",
        "PYTHONHOME": "/nowhere",
        "LD_PRELOAD": "/nowhere.so",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert not set(given) & set(libtpu.environment(os.environ))
    assert libtpu.ask(request(compiler.path))["ok"]


def test_the_worker_imports_the_standard_library_only():
    file = os.path.join(ROOT, "tpudist", "tools", "compile", "compiler", "worker.py")
    code = (
        "import runpy, sys; runpy.run_path(%r, run_name='worker')\n"
        "print([name for name, module in sys.modules.items() if 'site-packages' in "
        "str(getattr(module, '__file__', ''))])" % file
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], check=True, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout.strip() == "[]"


def test_two_workers_at_once(compiler):
    code = (
        "import sys; from tpudist.tools.compile.compiler import libtpu\n"
        "print(libtpu.ask({'libtpu': %r, 'topology': 'v5e:2x4', 'options': {}})['ok'])"
        % compiler.path
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    assert [each.communicate()[0].strip() for each in running] == [b"True", b"True"]
