"""Programs of 1.11 to 2.2 print the same numbers before and after a migration."""

import json
import os
import re
import shutil

import pytest

from tests.examples import running
from tests.tools.migrate import harness
from tpudist.tools.migrate.resolution import sources

pytestmark = pytest.mark.slow

pytest.importorskip("tensorflow", minversion="2.4", reason="programs of 2.2 and latest")

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
NAMES = sorted(name.partition(".")[0] for name in os.listdir(PROGRAMS) if "." in name)
#: What runs them: the drop-ins of 2.2 are in the code; what latest has no TPU for, the runner has.
HOW = {"before": "runner", "2.2": "python", "latest": "mixed"}
#: What TensorFlow 1.13.2 and 2.0.4 printed, of programs that today's does not run unmigrated.
RECORDED = {
    "contrib_names": "[9.0, 33.0, 9.0] [1, 2] 2",
    "keras_fit_2_0": "['0.3281', '0.3209', '0.3138'] 0.0364",
    "mirrored_session": "1 [(0.0,), (1.0,), (2.0,)]",
    "model_fn": "0.66639",
    "monitored_session": "['4.00000', '2.56000', '0.84640', '0.01538', '0.38094']",
    "notebook_2_0": "8.0",
    "one_device_iterator": "[0, 1, 2, 3]",
}
_NUMPY = re.compile(r"np\.float32\(([^()]*)\)")  # numpy 2
_PRINTED = re.compile(r"^.*\d.*$", re.M)


def folder_of(tmp_path, target):
    """The programs in a folder, migrated; notebooks as Python."""
    folder = tmp_path / target
    shutil.copytree(PROGRAMS, str(folder), ignore=shutil.ignore_patterns("__pycache__"))
    if target != "before":
        for name, result in harness.results(folder, target).items():
            assert not result.refused and not result.left, (name, result.left, result.refused)
            (folder / name).write_bytes(result.after)
    for path in folder.glob("*.ipynb"):
        text = sources.read(str(path), path.read_bytes()).text
        (folder / (path.name[:-6] + ".py")).write_text(text)
    return folder


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """{target: {program: (exit code, what it printed)}}."""
    tmp_path, found = tmp_path_factory.mktemp("programs"), {}
    for target, how in HOW.items():
        folder = folder_of(tmp_path, target)
        for name in RECORDED if target == "before" else ():
            (folder / (name + ".py")).write_text("print(%r)" % RECORDED[name])
        done = running.python(
            "-m", "tests.tools.migrate.forked", str(folder), how, cwd=running.ROOT
        )
        assert done.returncode == 0, done.stderr[-3000:]
        found[target] = json.loads(done.stdout.partition("FOUND")[2])
    return found


@pytest.mark.parametrize("target", ["2.2", "latest"])
@pytest.mark.parametrize("name", NAMES)
def test_the_same_numbers(name, target, printed):
    before, after = printed["before"][name], printed[target][name]
    assert before[0] == 0, before[1][-3000:]
    assert after[0] == 0, after[1][-3000:]
    lines = [_NUMPY.sub(r"\1", _PRINTED.findall(text)[-1]) for text in (before[1], after[1])]
    assert lines[0] == lines[1]


def test_there_are_many():
    assert len(NAMES) >= 12
