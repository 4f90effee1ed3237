"""An unchanged ``tpudist compile`` repeats its report; any change compiles again."""

import argparse
import os
import subprocess
import sys
import textwrap

import pytest

from tests import ROOT
from tests.tools.compile import records
from tpudist.tools.compile.cache import file_reads, runs, source_names
from tpudist.tools.compile.compiler import libtpu

pytestmark = pytest.mark.skipif(
    not hasattr(sys, "addaudithook"),
    reason="no run is stored before Python 3.8, which has no audit events",
)

TRAIN = """
    import os
    import tensorflow as tf
    import helper
    from parts import sizes

    with open(os.path.join(os.path.dirname(__file__), "width.txt")) as file:
        WIDTH = int(file.read())

    def input_fn():
        return tf.data.TFRecordDataset("nowhere") if os.path.exists("nowhere") else None

    def step(x):
        return helper.twice(x, WIDTH * sizes.ONE)

    if __name__ == "__main__":
        print(input_fn())
    """

#: Reads a script's files as `tpudist compile` would, with a TensorFlow that costs nothing.
RUN = """
    import argparse, runpy, sys
    from tpudist.tools.compile.cache import runs
    from tpudist.tools.compile.compiler import libtpu
    libtpu.find = lambda: libtpu.Libtpu(sys.executable, "1")
    options = argparse.Namespace(**dict.fromkeys(runs._OPTIONS, None))
    options.target, options.args, options.hlo, options.no_cache = sys.argv[1], "f32[8]", None, False
    if runs.find(options):
        print("kept")
        assert "tensorflow" not in sys.modules
        sys.exit()
    with runs.recorded(options) as recording:
        sys.path.insert(0, sys.argv[1].rpartition("/")[0])
        path = sys.argv[1].rpartition(":")[0]
        runpy.run_path(path, run_name="train")
        print("long", recording.store("", []))
    """


@pytest.fixture
def project(tmp_path):
    """Creates a script with modules and a data file, and a package with a version."""
    folder = tmp_path / "project"
    (folder / "parts").mkdir(parents=True)
    (folder / "train.py").write_text(textwrap.dedent(TRAIN))
    (folder / "helper.py").write_text("def twice(x, n):\n    return [x] * n\n")
    (folder / "parts" / "__init__.py").write_text("")
    (folder / "parts" / "sizes.py").write_text("ONE = 1\n")
    (folder / "width.txt").write_text("2")
    packages = tmp_path / "lib" / "site-packages"
    (packages / "tensorflow").mkdir(parents=True)
    (packages / "tensorflow" / "__init__.py").write_text(
        "__version__ = '9.1'\nclass data:\n    TFRecordDataset = None\n"
    )
    (packages / "tensorflow-9.1.dist-info").mkdir()
    return folder


@pytest.fixture
def run(project, tmp_path):
    """Runs the script; returns what `RUN` printed."""
    script = tmp_path / "runs" / "run.py"
    script.parent.mkdir()
    script.write_text(textwrap.dedent(RUN))

    def start(check=True, **environ):
        path = [ROOT, str(tmp_path / "lib" / "site-packages")]
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(path),
            "TPUDIST_CACHE": str(tmp_path / "cache"),
        }
        return subprocess.run(
            [sys.executable, str(script), str(project / "train.py") + ":step"],
            cwd=str(tmp_path),
            env=dict(environment, **environ),
            stdout=subprocess.PIPE,
            check=check,
            universal_newlines=True,
        ).stdout.strip()

    return start


def replace(path, text):
    """Writes another content of the same size, and keeps the modification time."""
    before = os.stat(str(path))
    path.write_text(text)
    os.utime(str(path), ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES = {
    "script": lambda folder: replace(
        folder / "train.py", (folder / "train.py").read_text().replace("WIDTH * s", "WIDTH + s")
    ),
    "helper": lambda folder: replace(
        folder / "helper.py", "def twice(x, n):\n    return [x] + n\n"
    ),
    "module of a package": lambda folder: replace(folder / "parts" / "sizes.py", "ONE = 2\n"),
    "data": lambda folder: replace(folder / "width.txt", "3"),
    "data gone": lambda folder: (folder / "width.txt").unlink(),
    "a module that comes first": lambda folder: (folder / "os.py").write_text(""),
    "version": lambda folder: replace(
        folder.parent / "lib" / "site-packages" / "tensorflow" / "__init__.py",
        "__version__ = '9.2'\n",
    ),
    "another package": lambda folder: (folder.parent / "lib" / "site-packages" / "keras").mkdir(),
}


def test_an_unchanged_run_is_repeated_without_tensorflow(run, project):
    assert run() == "long"
    (project / "report.json").write_text("{}")
    os.utime(str(project / "helper.py"))
    assert run(SHLVL="7") == "kept"
    assert run(ANOTHER="1") == "long"


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_file_is_noticed(run, project, what):
    assert run() == "long"
    CHANGES[what](project)
    assert "kept" not in run(check=False)


@pytest.mark.parametrize("option", ["args", "topology", "fit", "fast", "replicas"])
def test_another_option_is_another_run(option):
    options = argparse.Namespace(**dict.fromkeys(runs._OPTIONS, None))
    options.target = "a.py:step"
    before = runs._path(options)
    setattr(options, option, "other")
    assert runs._path(options) != before


@pytest.mark.slow
@pytest.mark.parametrize(
    "line, why",
    [
        ("import socket; socket.getaddrinfo('localhost', 1)", "socket."),
        ("import subprocess; subprocess.call(['true'])", "subprocess.Popen"),
        ("open('/proc/meminfo').close()", "/proc/meminfo"),
        ("open(os.path.join(os.path.dirname(__file__), 'log'), 'a').close()", "it writes"),
        ("os.path.exists('weights')", "says exists"),
        ("DATA = tf.data.TFRecordDataset", "says TFRecordDataset"),
        ("import ctypes", "imports ctypes"),
    ],
)
def test_a_run_with_unrecordable_input_is_not_stored(run, project, line, why):
    source = (project / "train.py").read_text()
    (project / "train.py").write_text(source + "\n" + line)
    output = run()
    assert output.startswith("long ") and why in output
    assert run() != "kept"


@pytest.mark.parametrize(
    "source, name",
    [
        ("def step(x):\n    return exists(x)\n", "exists"),
        ("def step(x):\n    return part(x)\ndef part(x):\n    return time.time()\n", "time"),
        ("class Net:\n    def call(self):\n        return gfile(1)\ndef step(x): Net()\n", "gfile"),
        ("def step(x):\n    return getattr(x, 'stat')()\n", "stat"),
        ("def step(x):\n    return eval(x)\ndef other():\n    return exists(1)\n", "exists"),
        ("@register\ndef other():\n    return exists(1)\n", "exists"),
        ("from os.path import exists as there\n", "exists"),
        ("def step(x):\n    return input()\n", "input"),
        ("import pandas\n", "pandas"),
        ("def other():\n    return exists(1)\n", None),
        ("def step(input):\n    return input + 1\n", None),
        ("if __name__ == '__main__':\n    print(exists(1))\n", None),
        ("import tensorflow as tf, numpy, os\nfrom . import parts\nimport train\n", None),
    ],
)
def test_code_that_may_run_is_searched_for_names(tmp_path, source, name):
    path = tmp_path / "train.py"
    path.write_text(source)
    use = source_names.unrecordable_use([str(path)], ["step"])
    assert (name is None) == (use == "") and (name or "") in use


def test_a_transient_failure_is_not_stored():
    report = records.summarized(records.failed("TIMED_OUT", "no end"))
    recorder = file_reads.Recorder()
    why = runs.Recording(recorder, "", ()).store("", [("step", report)])
    assert why == "the compiler did not end"


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"compiler": 1}'])
def test_a_damaged_entry_is_ignored(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(libtpu, "find", lambda: libtpu.Libtpu(sys.executable, "1"))
    options = argparse.Namespace(**dict.fromkeys(runs._OPTIONS, None))
    options.target, options.hlo, options.no_cache = "train.py:step", None, False
    monkeypatch.setenv("TPUDIST_CACHE", str(tmp_path))
    path = runs._path(options)
    os.makedirs(os.path.dirname(path))
    with open(path, "w") as file:
        file.write(damage)
    assert runs.find(options) is None
