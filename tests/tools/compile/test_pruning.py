"""What is kept is bounded: by size, by age, and never at the expense of a run that goes on."""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.tools.compile import records
from tpudist.errors import ArgumentError
from tpudist.surfaces import slices
from tpudist.tools.compile import cache, compiler, kept_runs, libtpu, process, pruning

HOUR, DAY = 3600, 86400


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv(pruning.SETTING, "1000B")
    return tmp_path / "cache"


@pytest.fixture
def kept(root):
    """Makes a file that was used some seconds ago."""

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


def test_what_was_used_longest_ago_goes_first(root, kept):
    kept("compile/a.json", 5 * HOUR)
    kept("runs/b.json", 4 * HOUR)
    kept("compile/c.json", 3 * HOUR)
    kept("runs/d.json", 2 * HOUR, size=100)
    cache.write(str(root / "runs" / "e.json"), "x" * 98)
    assert left(root) == ["compile/c.json", "runs/b.json", "runs/d.json", "runs/e.json"]


def test_what_was_read_was_used(root, kept):
    assert cache.read(str(kept("compile/a.json", 5 * HOUR))) is not None
    kept("compile/b.json", 4 * HOUR)
    kept("compile/c.json", 3 * HOUR)
    pruning.prune(str(root))
    assert left(root) == ["compile/a.json", "compile/c.json"]


def test_what_nobody_used_for_a_month_goes(root, kept):
    kept("compile/a.json", 31 * DAY, size=1)
    kept("runs/b.json", 29 * DAY, size=1)
    pruning.prune(str(root))
    assert left(root) == ["runs/b.json"]


def test_what_a_run_that_goes_on_may_use_stays(root, kept):
    """However little there is room for: what was used within the hour, and half a file."""
    for name in "abcd":
        kept("compile/%s.json" % name, HOUR / 2)
    kept("runs/.half.tmp", HOUR / 2, size=5000)
    kept("runs/.killed.tmp", 2 * DAY, size=1)
    pruning.prune(str(root))
    assert left(root) == ["compile/%s.json" % name for name in "abcd"] + ["runs/.half.tmp"]


def test_one_that_is_used_meanwhile_stays(root, kept, monkeypatch):
    """Another process reads the oldest file after its age was looked at."""
    oldest = kept("compile/a.json", 5 * HOUR)
    kept("compile/b.json", 4 * HOUR)
    kept("compile/c.json", 3 * HOUR)
    order = pruning._oldest_first

    def read_then(entries):
        found = order(entries)
        os.utime(str(oldest))
        return found

    monkeypatch.setattr(pruning, "_oldest_first", read_then)
    pruning.prune(str(root))
    assert "compile/a.json" in left(root)


def test_nothing_else_is_touched(root, kept):
    kept("matrix/project/9.1/tpudist-matrix.json", 50 * DAY, size=9000)
    kept("mine.json", 50 * DAY, size=9000)
    kept("compile/notes.txt", 50 * DAY, size=9000)
    before = left(root)
    pruning.prune(str(root))
    pruning.prune(str(root / "none"))
    assert left(root) == before


#: Writes and reads its own answers while others do; all of them are there and whole.
_WRITER = """
import os, sys
from tpudist.tools.compile import cache
root, me = sys.argv[1:]
for number in range(40):
    mine = os.path.join(root, "runs", "%s-%d.json" % (me, number))
    assert cache.write(mine, {"of": [me, number] * 50})
    old = os.path.join(root, "runs", "old-%s-%d.json" % (me, number))
    cache.write(old, {})
    os.utime(old, (1e9, 1e9))
    for each in range(number + 1):
        name = os.path.join(root, "runs", "%s-%d.json" % (me, each))
        assert cache.read(name) == {"of": [me, each] * 50}, name
"""


def test_processes_that_write_at_once_lose_nothing_of_theirs(root):
    environ = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(root), name], env=environ)
        for name in ("a", "b", "c")
    ]
    assert [each.wait() for each in writers] == [0, 0, 0]
    pruning.prune(str(root))
    assert len(left(root)) == 3 * 40, "what is old is gone, what is new is not"


@pytest.mark.parametrize("text, size", [("2GiB", 2 << 30), ("0", 0), (None, 1 << 30)])
def test_the_setting(text, size):
    assert pruning.limit({} if text is None else {pruning.SETTING: text}) == size


@pytest.mark.parametrize("text", ["much", "-1GiB", "1 GiBs"])
def test_what_is_no_size_is_refused_before_all_else(text, monkeypatch):
    monkeypatch.setenv(pruning.SETTING, text)
    monkeypatch.setattr(process, "ask", None)
    monkeypatch.setattr(libtpu, "find", lambda: libtpu.Libtpu(sys.executable, "1"))
    for refuses in (
        lambda: compiler.require(slices.find("v5e:2x4")),
        lambda: compiler.compile_program(records.a_program(), "v5e:2x4"),
    ):
        with pytest.raises(ArgumentError, match="TPUDIST_CACHE_SIZE=%s.*500MiB" % text):
            refuses()


def test_a_kept_run_that_was_pruned_is_made_anew(root, kept):
    """A file that is gone is none: nothing fails, and it is written again."""
    path = kept("runs/a.json", 5 * HOUR, size=3000)
    pruning.prune(str(root))
    assert cache.read(str(path)) is None
    watch = kept_runs.Watch(None, str(path))
    assert watch.keep("", []) == ""
    assert cache.write(str(path), {"said": ""}) and json.loads(path.read_text()) == {"said": ""}
