"""Where environments are kept, and files that several processes write."""

import os
import stat
import subprocess
import sys

import pytest

from tpudist import files, machine
from tpudist.tools.matrix import environments

HOME = os.path.expanduser("~")


@pytest.mark.parametrize(
    ("asked", "environ", "system", "folder"),
    [
        ("/mine", {"TPUDIST_CACHE": "/other"}, "linux", "/mine"),
        (None, {"TPUDIST_CACHE": "/other"}, "linux", "/other"),
        (None, {"TPUDIST_CACHE": "~/x"}, "linux", os.path.join(HOME, "x")),
        (None, {"XDG_CACHE_HOME": "/xdg"}, "linux", "/xdg/tpudist"),
        (None, {}, "linux", os.path.join(HOME, ".cache", "tpudist")),
        (None, {}, "darwin", os.path.join(HOME, "Library", "Caches", "tpudist")),
        (None, {"LOCALAPPDATA": "/local"}, "win32", os.path.join("/local", "tpudist")),
    ],
)
def test_folder(asked, environ, system, folder):
    assert machine.cache_folder(asked, environ, system) == os.path.normpath(folder)


def test_projects_of_one_name_share_nothing():
    one, other = (environments.of_project("/c", "/%s/my project" % each) for each in "ab")
    assert one != other and os.path.basename(one).startswith("my-project-")


def test_write_is_whole_and_keeps_the_mode(tmp_path):
    path = tmp_path / "new" / "file.txt"
    files.write(path, "one\n")
    os.chmod(str(path), 0o640)
    files.write(path, "zwei \u00e9\n")
    assert path.read_bytes() == "zwei \u00e9\n".encode("utf-8")
    assert stat.S_IMODE(os.stat(str(path)).st_mode) == 0o640
    assert os.listdir(str(path.parent)) == ["file.txt"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    files.write(path, "old")

    def fail(*unused):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write(path, "new")
    assert path.read_text() == "old" and os.listdir(str(tmp_path)) == ["file.txt"]


@pytest.mark.skipif(files.fcntl is None, reason="this system has no such locks")
def test_a_lock_lets_one_process_in(tmp_path):
    path, log = str(tmp_path / "lock"), str(tmp_path / "log")
    code = (
        "import time; from tpudist import files\n"
        "with files.locked(%r):\n"
        "  for word in ('in', 'out'):\n"
        "    open(%r, 'a').write(word + '\\n'); time.sleep(.2)\n" % (path, log)
    )
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    with open(log) as file:
        assert file.read().split() == ["in", "out"] * 3
