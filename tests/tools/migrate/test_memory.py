"""What was read of a file is let go when it is done: many files take little memory."""

import argparse
import gc
import tracemalloc

import pytest

from tests.tools.migrate import harness
from tpudist import cli
from tpudist.surfaces.eras import names
from tpudist.tools.migrate import engine, program
from tpudist.tools.migrate.resolution import codebase

_SIZE = 10000
_FILLER = "# %s\n" % ("x" * 60) * 160
_TEXT = harness.OLD + harness.USE + _FILLER


def taken(folder, files):
    """(most bytes in memory in a run, bytes that are in memory after it)."""
    harness.put(folder, files)
    chosen = dict(harness.options("2.2")._asdict(), paths=[str(folder)], exclude=[])
    gc.collect()
    tracemalloc.start()
    try:
        found = engine.results(argparse.Namespace(**chosen))
        most = tracemalloc.get_traced_memory()[1]
        assert [each.refused for each in found[0] if each.refused] == []
        del found
        gc.collect()
        return most, tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def named(count, text):
    return {"package%d/file%d.py" % (n // 20, n): text for n in range(count)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "times"),
    [
        pytest.param(_TEXT, 4, id="files that change"),
        pytest.param(
            "import tensorflow as tf\n" + _FILLER, 2, id="files that stay", marks=pytest.mark.proof
        ),
        pytest.param(_FILLER, 2, id="files without TensorFlow", marks=pytest.mark.proof),
    ],
)
def test_memory_grows_by_little_more_than_what_is_in_the_files(tmp_path, text, times):
    taken(tmp_path / "first", named(40, text))  # what a process keeps of its first run
    few, many = (taken(tmp_path / str(count), named(count, text))[0] for count in (100, 300))
    assert (many - few) / 200 < times * _SIZE  # a parsed file is up to 100 times as large


@pytest.mark.slow
def test_nothing_of_the_files_is_in_memory_after_a_run(tmp_path):
    taken(tmp_path / "first", named(40, _TEXT))
    few, many = (taken(tmp_path / str(count), named(count, _TEXT))[1] for count in (40, 240))
    assert (many - few) / 200 < 1000


def test_what_is_known_of_names_has_a_bound():
    for number in range(3000):
        names.eras_of_name("contrib.name%d" % number)
        names.is_first_generation("name%d" % number)
    for asked in (names.eras_of_name, names.is_first_generation):
        assert asked.cache_info().currsize <= 2000


FILES = {
    "made.py": harness.OLD + "def make():\n    return s\n",
    "one.py": "from made import make\n\n\ndef step(x):\n    return x\n\n\n"
    "make().experimental_run_v2(step)  # (a comment)\n",
    "two.py": "from made import make as m\nstrategy = m()\n(strategy.experimental_run_v2)(len)\n"
    "class Trainer:\n    def __init__(self):\n        self.strategy = strategy\n"
    "    def train(self):\n        return self.strategy.experimental_run_v2(self.train)\n",
}


@pytest.mark.parametrize("name", FILES)
def test_what_becomes_of_a_file_is_the_same_whatever_was_read_before_it(tmp_path, name):
    harness.put(tmp_path, FILES)
    together = harness.results(tmp_path, "latest")[name]
    files = codebase.CodeBase([str(tmp_path)])
    alone = engine.Engine(files, program.Program(files), harness.options("latest"))
    assert alone.migrate(str(tmp_path / name)) == together
    assert together.rewritten and not together.left


def test_a_file_that_is_gone_when_it_is_written_is_named(tmp_path, monkeypatch, capsys):
    harness.put(tmp_path, FILES)
    read = engine.Program.__init__

    def read_and_remove(self, *args):
        read(self, *args)
        (tmp_path / "two.py").unlink()

    monkeypatch.setattr(engine.Program, "__init__", read_and_remove)
    arguments = ["migrate", str(tmp_path), "--to", "latest", "--write"]
    assert cli.main(arguments) == 2
    assert "two.py: refused: cannot be written" in capsys.readouterr().out
