"""What is stored has limits on size and age, and files that a run may still use stay."""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.tools.compile import records
from tpudist.errors import ArgumentError
from tpudist.surfaces import slices
from tpudist.tools.compile.compiler import compilation, libtpu, stored_answers

HOUR, DAY = 3600, 86400


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv(stored_answers.SETTING, "1000B")
    return tmp_path / "compile"


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
    kept("a.json", 5 * HOUR)
    kept("b.json", 4 * HOUR)
    kept("c.json", 3 * HOUR)
    kept("d.json", 2 * HOUR, size=100)
    stored_answers.write(str(root / "e.json"), "x" * 98)
    assert left(root) == ["b.json", "c.json", "d.json", "e.json"]


def test_reading_is_a_use(root, kept):
    assert stored_answers.read(str(kept("a.json", 5 * HOUR))) is not None
    kept("b.json", 4 * HOUR)
    kept("c.json", 3 * HOUR)
    stored_answers.prune(str(root))
    assert left(root) == ["a.json", "c.json"]


def test_files_unused_for_a_month_are_removed(root, kept):
    kept("a.json", 31 * DAY, size=1)
    kept("b.json", 29 * DAY, size=1)
    stored_answers.prune(str(root))
    assert left(root) == ["b.json"]


def test_files_of_the_last_hour_stay(root, kept):
    """They stay even above the limit, as does a file that is being written."""
    for name in "abcd":
        kept("%s.json" % name, HOUR / 2)
    kept(".half.tmp", HOUR / 2, size=5000)
    kept(".killed.tmp", 2 * DAY, size=1)
    stored_answers.prune(str(root))
    assert left(root) == [".half.tmp"] + ["%s.json" % name for name in "abcd"]


def test_a_file_that_is_used_meanwhile_stays(root, kept, monkeypatch):
    """Another process reads the oldest file after its age was read."""
    oldest = kept("a.json", 5 * HOUR)
    kept("b.json", 4 * HOUR)
    kept("c.json", 3 * HOUR)
    limit = stored_answers.limit()

    def limit_after_a_use():
        os.utime(str(oldest))
        return limit

    monkeypatch.setattr(stored_answers, "limit", limit_after_a_use)
    stored_answers.prune(str(root))
    assert "a.json" in left(root)


def test_other_files_are_not_removed(root, kept):
    kept("../matrix/project/9.1/tpudist-matrix.json", 50 * DAY, size=9000)
    kept("../mine.json", 50 * DAY, size=9000)
    kept("notes.txt", 50 * DAY, size=9000)
    before = left(root.parent)
    stored_answers.prune(str(root))
    stored_answers.prune(str(root / "none"))
    assert left(root.parent) == before


#: Writes and reads its own answers while others do; all of them are there and whole.
_WRITER = """
import os, sys
from tpudist.tools.compile.compiler import stored_answers
root, me = sys.argv[1:]
for number in range(40):
    mine = os.path.join(root, "%s-%d.json" % (me, number))
    assert stored_answers.write(mine, {"of": [me, number] * 50})
    old = os.path.join(root, "old-%s-%d.json" % (me, number))
    stored_answers.write(old, {})
    os.utime(old, (1e9, 1e9))
    for each in range(number + 1):
        name = os.path.join(root, "%s-%d.json" % (me, each))
        assert stored_answers.read(name) == {"of": [me, each] * 50}, name
"""


def test_processes_that_write_at_once_keep_their_files(root):
    environ = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(root), name], env=environ)
        for name in ("a", "b", "c")
    ]
    assert [each.wait() for each in writers] == [0, 0, 0]
    stored_answers.prune(str(root))
    assert len(left(root)) == 3 * 40, "what is old is gone, what is new is not"


@pytest.mark.parametrize("text, size", [("2GiB", 2 << 30), ("0", 0), (None, 1 << 30)])
def test_the_limit_is_a_setting(monkeypatch, text, size):
    monkeypatch.delenv(stored_answers.SETTING, raising=False)
    if text is not None:
        monkeypatch.setenv(stored_answers.SETTING, text)
    assert stored_answers.limit() == size


@pytest.mark.parametrize("text", ["much", "-1GiB", "1 GiBs"])
def test_a_setting_that_is_no_size_is_refused_first(text, monkeypatch):
    monkeypatch.setenv(stored_answers.SETTING, text)
    monkeypatch.setattr(libtpu, "ask", None)
    monkeypatch.setattr(libtpu, "find", lambda: libtpu.Libtpu(sys.executable, "1"))
    for refuses in (
        lambda: compilation.require(slices.find("v5e:2x4")),
        lambda: compilation.compile_program(records.a_program(), "v5e:2x4"),
    ):
        with pytest.raises(ArgumentError, match="TPUDIST_CACHE_SIZE=%s.*500MiB" % text):
            refuses()


def test_a_removed_answer_can_be_stored_again(root, kept):
    """A missing file is no error, and can be written again."""
    path = kept("a.json", 5 * HOUR, size=3000)
    stored_answers.prune(str(root))
    assert stored_answers.read(str(path)) is None
    assert stored_answers.write(str(path), {"ok": 1}) and json.loads(path.read_text()) == {"ok": 1}
