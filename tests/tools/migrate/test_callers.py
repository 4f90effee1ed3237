"""Who calls a function is asked of a file once for all files, and the answers are the same."""

import sys

import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate.resolution import codebase, contents, module

BASE = (
    "from tpudist.v2_0 import tensorflow as tf\n"
    "class Layer:\n"
    "    def FProp(self, theta, inputs):\n"
    "        return inputs.experimental_run_v2(theta)\n"
)
#: All have a method of one name, and call that of something which cannot be told.
LAYER = (
    "from tpudist.v2_0 import tensorflow as tf\n"
    "import %s\n"
    "class Layer:\n"
    "    def FProp(self, theta, inputs):\n"
    "        return inputs.unwrap(layer%d.child().FProp(theta, inputs))\n"
)


def program(count):
    """Files of which each imports one, and all may call each other's method."""
    every = ", ".join("layer%d" % n for n in range(count))
    files = {"layer0.py": BASE}
    files.update({"layer%d.py" % n: LAYER % (every, n - 1) for n in range(1, count)})
    files["last.py"] = "import layer0\ns = layer0.tf.distribute.get_strategy()\n"
    files["last.py"] += "layer0.Layer().FProp(len, s)\n"
    return files


def reads(folder, count, monkeypatch):
    """How often files are read, where none is kept."""
    found, before = [], module.Module.__init__

    def init(self, path, *args, **options):
        found.append(path)
        before(self, path, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(module.Module, "__init__", init)
        patch.setattr(codebase, "_KEPT", 0)
        harness.put(folder, program(count))
        results = harness.results(folder, "2.2")
    assert [use.instead for use in results["layer0.py"].rewritten][-1] == "run"
    return len(found)


@pytest.mark.skipif(
    sys.version_info < (3, 9), reason="libcst reads all there, and where it is is not kept"
)
def test_files_are_read_as_often_as_there_are_files(tmp_path, monkeypatch):
    few, many = (reads(tmp_path / str(n), n, monkeypatch) for n in (10, 40))
    assert many < 6 * few  # four times the files; it was 16 times when all were read for each


@pytest.mark.parametrize("held", [0, 10**6])
def test_what_is_known_of_one_file_changes_nothing_in_another(tmp_path, monkeypatch, held):
    monkeypatch.setattr(contents, "_HELD", held)
    harness.put(tmp_path, program(8))
    together = harness.results(tmp_path, "latest")
    for name, expected in together.items():
        alone = codebase.CodeBase([str(tmp_path)])
        known = harness.surveys.Survey(alone, "auto")
        engine = harness.engines.Engine(alone, known, harness.options("latest"))
        assert engine.migrate(str(tmp_path / name)) == expected
