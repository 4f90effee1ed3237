"""What the doctor reads off a machine: distributions, chips, a TensorFlow in a process."""

import glob
import json
import subprocess
import sys

import pytest

from tests import ROOT
from tpudist.toolbox import installed
from tpudist.tools.doctor import environment


@pytest.fixture
def fake_tensorflow(tmp_path, monkeypatch):
    """Puts a ``tensorflow`` package made of the given code before the real one."""

    def write(code, name="tensorflow/__init__.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return str(path)

    return write


def test_probe_reports_a_tensorflow(fake_tensorflow):
    path = fake_tensorflow(
        "__version__ = '2.9.9'\n"
        "class test: is_built_with_cuda = staticmethod(lambda: True)\n"
        "class keras:\n  class layers:\n    class Dense: __module__ = 'keras.src.layers'\n"
        "print('noise')\n"
    )
    assert environment.probe_tensorflow() == {
        "version": "2.9.9",
        "path": path,
        "cuda": True,
        "keras": "keras",
        "error": None,
        "keras_error": None,
    }


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (
            "raise TypeError('Descriptors cannot be created directly.\\nIf this ...')",
            "TypeError: Descriptors cannot be created directly.",
        ),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("", "AttributeError: module 'tensorflow' has no attribute '__version__'"),
    ],
)
def test_probe_reports_why_it_does_not_import(fake_tensorflow, code, error):
    path = fake_tensorflow(code)
    seen = environment.probe_tensorflow()
    assert seen["error"].startswith(error)
    assert (seen["path"], seen["version"]) == (path, None)


def test_probe_reports_a_keras_that_fails(fake_tensorflow):
    fake_tensorflow(
        "__version__ = '2.9.9'\n"
        "class test: is_built_with_cuda = staticmethod(lambda: False)\n"
        "class Lazy:\n  @property\n  def layers(self): raise ImportError('no Keras')\n"
        "keras = Lazy()\n"
    )
    seen = environment.probe_tensorflow()
    assert (seen["version"], seen["error"]) == ("2.9.9", None)
    assert (seen["keras"], seen["keras_error"]) == (None, "ImportError: no Keras")


def test_probe_survives_a_killed_process(fake_tensorflow):
    fake_tensorflow("import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    assert "exit code -4" in environment.probe_tensorflow()["error"]


def test_probe_survives_a_hang(fake_tensorflow):
    fake_tensorflow("import time; time.sleep(60)")
    assert environment.probe_tensorflow(seconds=1) == {
        "error": "import tensorflow took more than 1 seconds",
        "slow": True,
    }


def test_probe_shows_a_script_that_hides_tensorflow(fake_tensorflow):
    path = fake_tensorflow("print('my model')", name="tensorflow.py")
    assert environment.probe_tensorflow()["path"] == path


def test_probe_leaves_chips_and_network_alone(fake_tensorflow):
    fake_tensorflow(
        "import os\nraise ValueError(os.environ['TPU_LOAD_LIBRARY'] + "
        "os.environ['TPU_SKIP_MDS_QUERY'])"
    )
    assert environment.probe_tensorflow()["error"] == "ValueError: 01"


def metadata(folder, text):
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(text)


def test_installed_reads_metadata_even_of_ruins(tmp_path, monkeypatch):
    metadata(
        tmp_path / "tensorflow_cpu-2.8.4.dist-info",
        "Name: tensorflow_cpu\nVersion: 2.8.4\nRequires-Dist: numpy (>=1.20)\n"
        "Requires-Dist: keras<2.9\n\nName: text of the README\n",
    )
    metadata(tmp_path / "tf_keras-9.dist-info", "Name: tf_keras\nVersion: 9\n")
    metadata(tmp_path / "~ensorflow-2.1.dist-info", "")
    (tmp_path / "empty-1.dist-info").mkdir()
    (tmp_path / "old-0.1-py3.7.egg-info").write_text("Name: old\nVersion: 0.1\n")
    (tmp_path / "second").mkdir()
    metadata(tmp_path / "second" / "tf_keras-8.dist-info", "Name: tf-keras\nVersion: 8\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "second"), "/no/such"])
    assert installed.distributions() == (
        {"tensorflow-cpu": "2.8.4", "tf-keras": "9", "old": "0.1"},
        {"tensorflow-cpu": ["numpy (>=1.20)", "keras<2.9"]},
    )


def test_installed_sees_this_run():
    assert installed.distributions()[0]["pytest"] == pytest.__version__


@pytest.mark.parametrize(
    ("files", "chips"), [(["/dev/accel1", "/dev/accel0"], ["/dev/accel0", "/dev/accel1"]), ([], [])]
)
def test_chips_are_device_files(monkeypatch, files, chips):
    monkeypatch.setattr(glob, "glob", lambda pattern: files if "accel[0-9]" in pattern else [])
    assert installed.tpu_chips() == chips


@pytest.mark.parametrize(("vendor", "chips"), [("0x1ae0\n", ["/dev/vfio/0"]), ("0x10de\n", [])])
def test_vfio_devices_count_if_google_made_them(monkeypatch, tmp_path, vendor, chips):
    (tmp_path / "vendor").write_text(vendor)
    found = {
        "/sys/bus/pci/devices/*/vendor": [str(tmp_path / "vendor")],
        "/dev/vfio/[0-9]*": ["/dev/vfio/0"],
    }
    monkeypatch.setattr(glob, "glob", lambda pattern: found.get(pattern, []))
    assert installed.tpu_chips() == chips


def test_detect_puts_it_together(fake_tensorflow, monkeypatch):
    fake_tensorflow("raise ValueError('x')")
    monkeypatch.setenv("TPUDIST_TPU", "virtual:8")
    monkeypatch.setenv("HOME_OF_SECRETS", "x")
    seen = environment.detect()
    assert seen.variables["TPUDIST_TPU"] == "virtual:8"
    assert "HOME_OF_SECRETS" not in seen.variables
    assert seen.probe["error"] == "ValueError: x"


def test_without_tensorflow(bare_python):
    process = bare_python("-m", "tpudist", "doctor")
    assert process.returncode == 1, process.stderr
    assert "TensorFlow  none" in process.stdout
    assert 'type  pip install "tpudist[tensorflow]"' in process.stdout
    assert process.stderr == ""


def test_without_tensorflow_as_json(bare_python):
    process = bare_python("-m", "tpudist", "doctor", "--json")
    data = json.loads(process.stdout)
    assert data["tensorflow"] == {
        "version": None,
        "path": None,
        "variant": None,
        "distributions": {},
    }
    assert [finding["check"] for finding in data["findings"]] == ["tensorflow_missing"]


@pytest.mark.slow
def test_probe_alone_prints_one_line_of_json():
    process = subprocess.run(
        [sys.executable, "-m", "tpudist.tools.doctor.probe"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert set(json.loads(process.stdout.splitlines()[-1])) == {
        "version",
        "path",
        "cuda",
        "keras",
        "error",
        "keras_error",
    }


def test_a_wheel_for_tpus_is_imported_with_its_library(fake_tensorflow, monkeypatch):
    monkeypatch.delenv("TPU_LOAD_LIBRARY", raising=False)
    fake_tensorflow("import os\nraise ValueError(os.environ.get('TPU_LOAD_LIBRARY'))")
    assert environment.probe_tensorflow(on_tpus=True)["error"] == "ValueError: None"
    monkeypatch.setattr(installed, "distributions", lambda: ({"tensorflow-tpu": "2.20.0"}, {}))
    assert environment.detect().probe["error"] == "ValueError: None"
