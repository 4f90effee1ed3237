"""What was read of a file is let go when it is done, and few files are kept in memory."""

import argparse
import gc
import os
import sys
import tracemalloc
import weakref

import pytest

from tests.tools.migrate import harness
from tpudist import cli
from tpudist.surfaces.eras import names
from tpudist.tools.migrate import engine, file_runs, survey
from tpudist.tools.migrate.resolution import codebase, contents, module, python_trees

FILES = {
    "made.py": harness.OLD + "def make():\n    return s\n",
    "one.py": "from made import make\n\n\ndef step(x):\n    return x\n\n\n"
    "make().experimental_run_v2(step)  # (a comment)\n",
    "two.py": "from made import make as m\nstrategy = m()\n(strategy.experimental_run_v2)(len)\n"
    "class Trainer:\n    def __init__(self):\n        self.strategy = strategy\n"
    "    def train(self):\n        return self.strategy.experimental_run_v2(self.train)\n",
}


@pytest.fixture
def read(monkeypatch):
    """References to all files that were read."""
    found, before = [], module.Module.__init__

    def init(self, *args, **options):
        before(self, *args, **options)
        found.append(weakref.ref(self))

    monkeypatch.setattr(module.Module, "__init__", init)
    return found


#: What libcst reads, all files before Python 3.9, is kept only if another file has asked for it.
KEPT = 4, sorted(FILES) if sys.version_info >= (3, 9) else ["made.py"]


@pytest.mark.parametrize("kept, parsed, left", [(0, 5, []), (10**6, *KEPT)])
def test_files_that_are_done_leave_nothing(tmp_path, monkeypatch, read, kept, parsed, left):
    harness.put(tmp_path, FILES)
    monkeypatch.setattr(codebase, "_KEPT", kept)
    files = codebase.CodeBase([str(tmp_path)])
    known = survey.Survey(files)
    migrating = engine.Engine(files, known, harness.options("latest"))
    gc.collect()
    gc.disable()
    try:
        changed = [path for path in known.files if migrating.migrate(path).rewritten]
        alive = [each().path for each in read if each() is not None]
    finally:
        gc.enable()
    assert len(changed) == len(FILES) and len(read) == parsed
    assert sorted(os.path.basename(path) for path in alive) == left


def grown(folder, count):
    """Bytes that `count` files of 10 KB leave in memory after what is known of all is found."""
    text = harness.OLD + harness.USE + "# %s\n" % ("x" * 60) * 160
    harness.put(folder, {"package%d/file%d.py" % (n // 20, n): text for n in range(count)})
    gc.collect()
    tracemalloc.start()
    try:
        files = codebase.CodeBase([str(folder)])
        known = survey.Survey(files)
        files.words()
        gc.collect()
        found = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        python_trees.forget()
    assert len(known.files) == count
    return found


@pytest.mark.slow
def test_memory_grows_by_little_with_the_number_of_files(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "_HELD", 0)
    monkeypatch.setattr(python_trees, "WHOLE", 0)
    grown(tmp_path / "first", 40)  # what a process keeps of its first run
    few, many = grown(tmp_path / "few", 40), grown(tmp_path / "many", 240)
    # Bytes a file, of 10,000 that it has: its path, and a place in some dicts, 350 to 560.
    assert (many - few) / 200 < 1000


def test_what_is_known_of_names_has_a_bound():
    for number in range(3000):
        names.eras_of_member("name%d_of_it" % number, "receiver%d" % number)
        names.eras_of_name("contrib.name%d" % number)
        names.is_first_generation("name%d" % number)
    for asked in (names.eras_of_member, names.eras_of_name, names.is_first_generation):
        assert asked.cache_info().currsize <= 2000


def spooled(folder, count):
    """(bytes in memory, the `Spool`) once `count` files of 10 KB, which change, were migrated."""
    text = harness.OLD + harness.USE + "# %s\n" % ("x" * 60) * 160
    harness.put(folder, {"file%03d.py" % n: text for n in range(count)})
    chosen = dict(harness.options("2.2")._asdict(), paths=[str(folder)], exclude=[], jobs=1)
    gc.collect()
    tracemalloc.start()
    try:
        found = file_runs.results(argparse.Namespace(**chosen))[0]
        gc.collect()
        return tracemalloc.get_traced_memory()[0], found
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_files_that_change_are_kept_on_disk(tmp_path):
    spooled(tmp_path / "first", 2)  # what a process keeps of its first run
    few, _ = spooled(tmp_path / "few", 10)
    many, found = spooled(tmp_path / "many", 70)
    assert (many - few) / 60 < 1000  # bytes a file, of 20,000 that it is and becomes
    for _ in range(2):
        every = [os.path.basename(each.path) for each in found if each.before != each.after]
        assert every == ["file%03d.py" % n for n in range(70)] and len(found) == 70


def test_files_that_are_not_held_are_migrated_alike(tmp_path, monkeypatch):
    harness.put(tmp_path, FILES)
    expected = harness.results(tmp_path, "latest")
    monkeypatch.setattr(contents, "_HELD", 0)
    assert harness.results(tmp_path, "latest") == expected


def test_a_file_that_is_gone_before_its_turn_is_named(tmp_path, monkeypatch, capsys):
    harness.put(tmp_path, FILES)
    monkeypatch.setattr(contents, "_HELD", 0)
    read = file_runs.Survey.__init__

    def survey_and_remove(self, *args):
        read(self, *args)
        (tmp_path / "two.py").unlink()

    monkeypatch.setattr(file_runs.Survey, "__init__", survey_and_remove)
    assert cli.main(["migrate", str(tmp_path), "--to", "latest", "--jobs", "1"]) == 2
    assert "two.py: refused: unreadable" in capsys.readouterr().out
