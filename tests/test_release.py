"""The archives hold what they should, and every page says the same version."""

import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

from tests import ROOT, release
from tpudist.toolbox import table


def test_versions_are_one():
    said = release.versions()
    assert set(said.values()) == {said["tpudist"]}, said


def test_pythons_are_those_of_releases():
    of_table = {row.python for row in table.read().values()}
    assert set(release.PYTHONS.split(",")) <= of_table


@pytest.mark.slow
def test_archives_have_guides_and_examples(tmp_path):
    pytest.importorskip("build.__main__", reason="it makes the archives")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(tmp_path), ROOT],
        stdout=subprocess.PIPE,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    (archive,) = tmp_path.glob("*.tar.gz")
    guides = os.listdir(os.path.join(ROOT, "examples", "guides"))
    assert guides
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    assert {"tpudist/guides/" + guide for guide in guides} <= names
    assert not [name for name in names if name.startswith(("tests/", "compat/", "examples/"))]
    with tarfile.open(str(archive)) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
    for path in ("README.md", "CHANGELOG.md", "CITATION.cff", "examples/run_all.py"):
        assert path in inside
    assert {"examples/guides/" + guide for guide in guides} <= inside
    assert not [name for name in inside if "__pycache__" in name]
