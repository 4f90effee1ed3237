"""Every import that is written resolves, of all modules that TensorFlow 1.15 had.

``cases/modules_1_15.lst``: the public modules of TensorFlow 1.15, and such of
its own code as public training programs import.
"""

import json
import os

import pytest

from tests.examples import running
from tests.tools.migrate import harness

pytest.importorskip("tensorflow", minversion="2.4", reason="what is written for 2.0 to latest")
from tpudist.tfcompat import keras_packages

pytestmark = pytest.mark.slow

_TRIES = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
found = {}
for line in json.load(open(sys.argv[1])):
    try:
        exec(line, {})
        found[line] = ""
    except Exception as error:
        found[line] = type(error).__name__ + ": " + str(error)[:200]
print("FOUND" + json.dumps(found))
"""


def modules():
    """The full names of the modules of 1.15."""
    with open(os.path.join(harness.CASES, "modules_1_15.lst"), encoding="utf-8") as file:
        return file.read().split()


def imports():
    """Each module's import, written in four ways."""
    for index, full in enumerate(modules()):
        above, _, last = full.rpartition(".")
        yield "import %s as a%d" % (full, index)
        yield "import %s" % full
        yield "from %s import %s as b%d" % (above, last, index)
        yield "from %s import %s" % (above, last)


def resolves(lines, folder):
    """{import: "" or the error that it raises} on the installed TensorFlow."""
    (folder / "lines.json").write_text(json.dumps(lines))
    (folder / "tries.py").write_text(_TRIES)
    done = running.python(str(folder / "tries.py"), str(folder / "lines.json"))
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.partition("FOUND")[2])


def _is_keras_3_only(line):
    """Whether a module is one that Keras 2 has not, of which the eras' ``tf.keras`` is."""
    return ".keras import wrappers" in line and keras_packages.leads_elsewhere("compat.v1", "keras")


PROGRAMS = {
    "graph": "strategy = tf.contrib.distribute.MirroredStrategy()\nwith tf.Session(): pass\n",
    "eager": "strategy.experimental_run_v2(f)\n",
}


@pytest.mark.parametrize("target", ["2.0", pytest.param("2.2", marks=pytest.mark.proof), "latest"])
@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_every_import_that_is_written_resolves(program, target, tmp_path):
    pairs = []
    for index, line in enumerate(imports()):
        text = "import tensorflow as tf\n%s\n%s" % (line, PROGRAMS[program])
        harness.put(tmp_path / "code", {"a%d.py" % index: text})
        pairs.append(line)
    found = harness.results(tmp_path / "code", target)
    written = {}
    for name, result in found.items():
        old = pairs[int(name[1:-3])]
        told = any(use.rule in ("gone-contrib", "imports") for use in result.left)
        lines = [
            each
            for each in result.after.decode().splitlines()
            if each.startswith(("import ", "from "))
        ]
        for line in [] if told else lines:
            written.setdefault(line, set()).add(old)
    errors = resolves(sorted(set(written) | set(pairs)), tmp_path)
    wrong = {
        line: errors[line]
        for line, olds in written.items()
        if errors[line] and not any(errors[old] for old in olds) and not _is_keras_3_only(line)
    }
    assert len(written) > 200
    assert not wrong, json.dumps(wrong, indent=1)
