"""What the extra ``tpu`` installs is a TensorFlow that imports, and the one of the table."""

import configparser
import os
import platform
import subprocess
import sys

import pytest
from packaging.requirements import Requirement

from tests import ROOT
from tpudist.errors import MatrixError
from tpudist.toolbox import table


def extra():
    """{package: its specifier} of the extra."""
    config = configparser.ConfigParser()
    config.read(os.path.join(ROOT, "setup.cfg"), "utf-8")
    lines = table.lines(config["options.extras_require"]["tpu"])
    return {each.name: each.specifier for each in map(Requirement, lines)}


@pytest.mark.parametrize("name", sorted(table.on_tpus()))
def test_the_extra_takes_each_release_of_the_table(name):
    row = table.on_tpus()[name]
    wheel, libtpu = Requirement(row.requirement), Requirement(row.constraints[0])
    (version,) = (each.version for each in wheel.specifier)
    assert extra()["tensorflow-tpu"].contains(version)
    last = [each for each in libtpu.specifier if each.operator in ("<", "==")]
    assert all(extra()["libtpu"].contains(each.version) or each.operator == "<" for each in last)


def test_the_extra_takes_no_libtpu_that_the_newest_release_does_not():
    libtpu = Requirement(list(table.on_tpus().values())[-1].constraints[0]).specifier
    for version in ("0.0.31", "0.0.32", "0.0.40", "0.0.52"):
        assert extra()["libtpu"].contains(version) == libtpu.contains(version)


def test_constraints_of_a_tpu():
    head, *pins = table.constraints("tpu-2.20").splitlines()
    assert head.endswith("pip install -c FILE tensorflow-tpu==2.20.0")
    assert pins[:3] == ["tensorflow-tpu==2.20.0", "libtpu>=0.0.14,<0.0.32", "protobuf<7"]


def test_a_release_without_a_wheel_for_tpus_is_refused():
    with pytest.raises(MatrixError, match="tpu-2.20"):
        table.constraints("tpu-2.21")


def test_the_newest_release_of_a_tpu_is_said():
    newest = list(table.on_tpus())[-1].replace("tpu-", "")
    said = "TensorFlow %s is the newest that a TPU runs" % newest
    for page in ("README.md", "examples/guides/real_tpu.md", "compat/MATRIX.md"):
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            assert said in " ".join(file.read().split()), page


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="the wheel is for x86-64 Linux",
)
@pytest.mark.skipif(not (3, 9) <= sys.version_info < (3, 14), reason="it has no wheel")
def test_the_extra_installs_a_tensorflow_that_imports(tmp_path):
    """It downloads some 400 MB from the package index."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "e")], check=True)
    python = str(tmp_path / "e" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", ROOT + "[tpu]"], check=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TPU_SKIP_MDS_QUERY": "1"}
    command = [python, "-c", "import tensorflow as tf; print(tf.__version__)"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, cwd=str(tmp_path))
    assert done.returncode == 0 and done.stdout.split()[-1].startswith(b"2.20")
    doctor = [python, "-m", "tpudist", "doctor"]
    assert subprocess.run(doctor, env=environment, cwd=str(tmp_path)).returncode == 0
