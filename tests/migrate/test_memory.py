"""What was read of a file is let go when it is done, without a collector."""

import gc
import os
import weakref

import pytest

from tests.migrate import harness
from tpudist.migrate import engine, survey
from tpudist.resolution import codebase, module

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


@pytest.mark.parametrize("kept, left", [(0, []), (10**6, ["made.py"])])
def test_files_that_are_done_leave_nothing(tmp_path, monkeypatch, read, kept, left):
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
    assert len(changed) == len(FILES) < len(read)
    assert [os.path.basename(path) for path in alive] == left
