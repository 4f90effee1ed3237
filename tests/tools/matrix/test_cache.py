"""Where environments are kept, and files that several processes write."""

import json
import os
import stat
import subprocess
import sys

import pytest

from tpudist import files, machine
from tpudist.tools.matrix import cache

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
    one, other = cache.of_project("/c", "/a/my project"), cache.of_project("/c", "/b/my project")
    assert one != other and os.path.basename(one).startswith("my-project-")


@pytest.fixture
def kept(tmp_path):
    """Makes an environment that was used some days ago; returns its folder."""

    def make(name, days, project=None):
        folder = tmp_path / "cache" / "matrix" / name
        folder.mkdir(parents=True)
        marker = folder / cache.MARKER
        marker.write_text(json.dumps({"project": str(project)} if project else {"key": "old"}))
        (folder.parent / (folder.name + ".lock")).write_text("")
        os.utime(str(marker), (1e9 - days * 86400, 1e9 - days * 86400))
        return str(folder)

    return make


def test_environments_that_nobody_uses_are_removed(kept, tmp_path):
    (tmp_path / "project").mkdir()
    used, unused = kept("a/9.1", 29, tmp_path / "project"), kept("a/9.2", 31, tmp_path / "project")
    orphan, unknown = kept("b/9.1", 1, tmp_path / "gone"), kept("c/9.1", 1)
    assert cache.prune(str(tmp_path / "cache"), 1e9) == [unused, orphan]
    left = [folder for folder in (used, unused, orphan, unknown) if os.path.exists(folder)]
    assert left == [used, unknown]
    assert not (tmp_path / "cache" / "matrix" / "b").exists(), "nor is its lock left"
    assert cache.prune(str(tmp_path / "cache"), 1e9) == []


def test_what_is_being_made_is_not_removed(tmp_path):
    (tmp_path / "matrix" / "a" / "9.1").mkdir(parents=True)
    assert cache.prune(str(tmp_path)) == [] and cache.prune(str(tmp_path / "none")) == []


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
