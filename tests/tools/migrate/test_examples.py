"""The proof: migrated examples run on the virtual TPU and print the same numbers.

What `run_steps_on_dataset` becomes is left to the user, so of the contrib era
`contrib_towers.py` goes all the way and `contrib_steps.py` to the drop-in namespace.
"""

import os
import re
import shutil

import pytest

from tests.examples import running
from tests.tools.migrate import harness
from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.tools.migrate import imports, relocation
from tpudist.tools.migrate.resolution import tensorflow_names

pytestmark = pytest.mark.slow


pytest.importorskip("tensorflow", minversion="2.4", reason="programs of 2.2 and latest")

_EPOCHS = ("--epochs", "1")
_DROPIN = re.compile(r"^from tpudist\.\w+ import tensorflow as tf$", re.M)

#: (example, target, what runs it); latest is plain TensorFlow, so the runner
#: gives it the virtual TPU. CI runs one of each era.
CASES = [
    ("contrib_towers", "2.0", ()),
    ("contrib_towers", "2.2", ()),
    ("contrib_towers", "latest", ("-m", "tpudist", "run", "--era", "2.2")),
    ("v2_0", "2.2", ()),
    ("v2_0", "latest", ("-m", "tpudist", "run", "--era", "2.2")),
    ("v2_2", "latest", ("-m", "tpudist", "run", "--era", "2.2")),
    ("contrib_steps", "contrib", ()),
    ("logical_devices", "2.2", ()),
    ("logical_devices", "latest", ("-m", "tpudist", "run", "--era", "2.2")),
]
IN_CI = ("contrib_towers to latest", "v2_0 to 2.2", "v2_2 to latest")


def legacy(folder):
    """The examples in a folder, as they were written: ``import tensorflow as tf``."""
    shutil.copytree(running.EXAMPLES, str(folder), ignore=shutil.ignore_patterns("__pycache__"))
    for name in os.listdir(str(folder)):
        if name.endswith(".py"):
            path = folder / name
            path.write_text(_DROPIN.sub("import tensorflow as tf", path.read_text()))
    return folder


def migrated(folder, target, only=None):
    """Migrates the files of a folder in place."""
    for path, found in harness.results(folder, target).items():
        if not only or path == only:
            (folder / path).write_bytes(found.after)


@pytest.fixture(scope="module")
def numbers():
    """A function from an example's name to the last line it prints."""
    known = {}

    def last_line(name):
        if name not in known:
            known[name] = running.example(name, *_EPOCHS).stdout.splitlines()[-1]
        return known[name]

    return last_line


@pytest.mark.parametrize(
    ("name", "target", "runner"),
    [
        pytest.param(*case, id=name, marks=() if name in IN_CI else pytest.mark.proof)
        for name, case in (("%s to %s" % case[:2], case) for case in CASES)
    ],
)
def test_the_migrated_example_prints_the_same_numbers(name, target, runner, tmp_path, numbers):
    folder = tmp_path / "examples"
    if target == "latest":
        shutil.copytree(running.EXAMPLES, str(folder))
    else:
        legacy(folder)
    migrated(folder, target, name + ".py")
    text = (folder / (name + ".py")).read_text()
    if target == "latest":
        assert not re.search(r"^\s*(from|import) tpudist", text, re.M)
    tpu = ("--tpu", "virtual:8") if runner else ()
    done = running.python(*(runner + tpu + (str(folder / (name + ".py")),) + _EPOCHS))
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == numbers(name)


def names_at_latest():
    """Every name below ``tf`` that code for today's TensorFlow may import."""
    for era in surfaces.ERAS:
        for name in surfaces.EXPORTS[era]:
            below = tensorflow_names.below_tensorflow("tpudist.%s.%s" % (era, name))
            yield surfaces.NAMES["v2_0"].get(below, below)
    for era in ("v2_0", "latest"):
        yield from surfaces.NAMES[era].values()


def test_every_import_that_is_written_works_on_the_installed_tensorflow():
    moved = relocation.Relocation("latest", surfaces.ERAS, successors=surfaces.NAMES["latest"])
    lines = []
    for name in sorted({name for name in names_at_latest() if name}):
        if not name.startswith("contrib") and not name.startswith("VariableAggregation."):
            if leads.gone_prefix(name):
                continue  # told, see the rule contrib-moved
            v1 = name in surfaces.MOVED.values() or (
                name.startswith("tpu.") and "experimental" not in name
            )
            compat = "compat.v1." if v1 else ""
            lines.append(imports.statement(moved("tpudist.v2_2.tensorflow." + compat + name), "x"))
    assert len(lines) > 15
    done = running.python("-c", "\n".join(lines))
    assert done.returncode == 0, done.stderr[-2000:]
