"""The cache has limits on size and age, and keeps files that a run may still use."""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.tools.compile import records
from tpudist.errors import ArgumentError
from tpudist.surfaces import slices
from tpudist.tools.compile.cache import runs, store
from tpudist.tools.compile.compiler import compilation, libtpu

HOUR, DAY = 3600, 86400


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv(store.SETTING, "1000B")
    return tmp_path / "cache"


@pytest.fixture
def kept(root):
    """Writes a file that was used some seconds ago."""

    def make(name, ago, size=400):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1" * size)
        os.utime(str(path), (time.time() - ago,) * 2)
        return path

    return make


def left(root):
    return sorted(
        os.path.relpath(os.path.join(folder, name), str(root))
        for folder, _, names in os.walk(str(root))
        for name in names
    )


def test_the_least_recently_used_is_removed_first(root, kept):
    kept("compile/a.json", 5 * HOUR)
    kept("runs/b.json", 4 * HOUR)
    kept("compile/c.json", 3 * HOUR)
    kept("runs/d.json", 2 * HOUR, size=100)
    store.write(str(root / "runs" / "e.json"), "x" * 98)
    assert left(root) == ["compile/c.json", "runs/b.json", "runs/d.json", "runs/e.json"]


def test_reading_is_a_use(root, kept):
    assert store.read(str(kept("compile/a.json", 5 * HOUR))) is not None
    kept("compile/b.json", 4 * HOUR)
    kept("compile/c.json", 3 * HOUR)
    store.prune(str(root))
    assert left(root) == ["compile/a.json", "compile/c.json"]


def test_files_unused_for_a_month_are_removed(root, kept):
    kept("compile/a.json", 31 * DAY, size=1)
    kept("runs/b.json", 29 * DAY, size=1)
    store.prune(str(root))
    assert left(root) == ["runs/b.json"]


def test_files_of_the_last_hour_stay(root, kept):
    """They stay even above the limit, as does a file that is being written."""
    for name in "abcd":
        kept("compile/%s.json" % name, HOUR / 2)
    kept("runs/.half.tmp", HOUR / 2, size=5000)
    kept("runs/.killed.tmp", 2 * DAY, size=1)
    store.prune(str(root))
    assert left(root) == ["compile/%s.json" % name for name in "abcd"] + ["runs/.half.tmp"]


def test_a_file_that_is_used_meanwhile_stays(root, kept, monkeypatch):
    """Another process reads the oldest file after its age was read."""
    oldest = kept("compile/a.json", 5 * HOUR)
    kept("compile/b.json", 4 * HOUR)
    kept("compile/c.json", 3 * HOUR)
    limit = store.limit()

    def limit_after_a_use():
        os.utime(str(oldest))
        return limit

    monkeypatch.setattr(store, "limit", limit_after_a_use)
    store.prune(str(root))
    assert "compile/a.json" in left(root)


def test_other_files_are_not_removed(root, kept):
    kept("matrix/project/9.1/tpudist-matrix.json", 50 * DAY, size=9000)
    kept("mine.json", 50 * DAY, size=9000)
    kept("compile/notes.txt", 50 * DAY, size=9000)
    before = left(root)
    store.prune(str(root))
    store.prune(str(root / "none"))
    assert left(root) == before


#: Writes and reads its own answers while others do; all of them are there and whole.
_WRITER = """
import os, sys
from tpudist.tools.compile.cache import store
root, me = sys.argv[1:]
for number in range(40):
    mine = os.path.join(root, "runs", "%s-%d.json" % (me, number))
    assert store.write(mine, {"of": [me, number] * 50})
    old = os.path.join(root, "runs", "old-%s-%d.json" % (me, number))
    store.write(old, {})
    os.utime(old, (1e9, 1e9))
    for each in range(number + 1):
        name = os.path.join(root, "runs", "%s-%d.json" % (me, each))
        assert store.read(name) == {"of": [me, each] * 50}, name
"""


def test_processes_that_write_at_once_keep_their_files(root):
    environ = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(root), name], env=environ)
        for name in ("a", "b", "c")
    ]
    assert [each.wait() for each in writers] == [0, 0, 0]
    store.prune(str(root))
    assert len(left(root)) == 3 * 40, "what is old is gone, what is new is not"


@pytest.mark.parametrize("text, size", [("2GiB", 2 << 30), ("0", 0), (None, 1 << 30)])
def test_the_limit_is_a_setting(monkeypatch, text, size):
    monkeypatch.delenv(store.SETTING, raising=False)
    if text is not None:
        monkeypatch.setenv(store.SETTING, text)
    assert store.limit() == size


@pytest.mark.parametrize("text", ["much", "-1GiB", "1 GiBs"])
def test_a_setting_that_is_no_size_is_refused_first(text, monkeypatch):
    monkeypatch.setenv(store.SETTING, text)
    monkeypatch.setattr(libtpu, "ask", None)
    monkeypatch.setattr(libtpu, "find", lambda: libtpu.Libtpu(sys.executable, "1"))
    for refuses in (
        lambda: compilation.require(slices.find("v5e:2x4")),
        lambda: compilation.compile_program(records.a_program(), "v5e:2x4"),
    ):
        with pytest.raises(ArgumentError, match="TPUDIST_CACHE_SIZE=%s.*500MiB" % text):
            refuses()


def test_a_removed_run_can_be_stored_again(root, kept):
    """A missing file is no error, and can be written again."""
    path = kept("runs/a.json", 5 * HOUR, size=3000)
    store.prune(str(root))
    assert store.read(str(path)) is None
    recording = runs.Recording(None, str(path))
    assert recording.store("", []) == ""
    assert store.write(str(path), {"said": ""}) and json.loads(path.read_text()) == {"said": ""}
