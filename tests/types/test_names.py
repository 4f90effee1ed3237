"""To a checker each name of the table is, in its drop-in, what it leads to."""

import re
import subprocess
import sys

import pytest

from tests.types import checkers
from tpudist import surfaces

pytestmark = pytest.mark.slow


def revealed(code, folder):
    """What mypy reveals, in the order of the code."""
    (folder / "names.py").write_text(code, encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", "names.py"],
        cwd=str(folder),
        env=checkers.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    # mypy marks an Any that came by way of a module's `__getattr__` with a question mark.
    return re.findall(r'^names\.py:\d+: note: Revealed type is "(.*?)\??"$', process.stdout, re.M)


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_a_name_is_what_it_leads_to(era, tmp_path):
    ours = {
        name: target.replace(":", ".")
        for name, target in surfaces.DROPINS[era].items()
        if not target.startswith("tensorflow:")
    }
    modules = {target.rpartition(".")[0] for target in ours.values()}
    lines = ["import %s" % each for each in sorted(modules)]
    lines += ["from tpudist.%s import tensorflow as tf" % era]
    lines += ["reveal_type(tf.%s)\nreveal_type(%s)" % pair for pair in ours.items()]
    said = revealed("\n".join(lines) + "\n", tmp_path)
    assert len(said) == 2 * len(ours) > 20
    found = dict(zip(ours, zip(said[::2], said[1::2])))
    assert {name: pair for name, pair in found.items() if pair[0] != pair[1]} == {}
    untyped = {name for name, pair in found.items() if pair[0] == "Any"}
    # Those of Estimator are TensorFlow's own classes, of a package without annotations.
    untyped -= {name for name in untyped if ours[name].startswith("tpudist.estimator.")}
    assert {name.rpartition(".")[2] for name in untyped} <= {"VariableAggregation", "Topology"}
