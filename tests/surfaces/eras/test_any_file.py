"""No file stops whoever reads programs: `tpudist run` and `tpudist migrate`."""

import ast
import os
import random
import sys
import sysconfig
import tempfile
import warnings

import pytest

from tests.helpers import random_trees
from tpudist.surfaces.eras import evidence, program, walks

hypothesis = pytest.importorskip("hypothesis")

#: Makes a file one that `tpudist migrate` looks at.
LEGACY = (
    "\nfrom tpudist.v2_0 import tensorflow as tpudist_tf\n"
    "tpudist_strategy = tpudist_tf.distribute.get_strategy()\n"
    "tpudist_strategy.experimental_run_v2(function)\n"
)
needs_unparse = pytest.mark.skipif(sys.version_info < (3, 9), reason="ast.unparse is of 3.9")


def files_of(place):
    """The files below a folder of Python's that the Python at hand compiles, in a fixed order."""
    root = sysconfig.get_paths()[place]
    found = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".py") and (place != "stdlib" or "site-packages" not in folder)
    ]
    return sorted(found)


def sample(place, count):
    """Some of them, others in each process: a failure names its file."""
    return random.SystemRandom().sample(files_of(place), count)


def parsed(path):
    """The tree of a file, None if it is not for this Python."""
    try:
        with warnings.catch_warnings(), open(path, "rb") as file:
            warnings.simplefilter("ignore")
            return ast.parse(file.read())
    except (SyntaxError, ValueError, RecursionError):
        return None


def read(path):
    """Reads a file as the script of a program; what the file itself tells is no fault."""
    tree = parsed(path)
    if tree is not None:
        lines = [line for line in program.read(path).faults if line.startswith(path)]
        assert not lines, lines


def migrate(raw, path="a.py"):
    """Migrates the bytes of a file, which have a legacy use behind them."""
    from tests.tools.migrate import harness

    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.py"), "wb") as file:
            file.write(raw + LEGACY.encode())
        found = harness.results(folder, "latest")
    assert "a fault of tpudist" not in found["a.py"].refused, (path, found["a.py"].refused)


def migrate_file(path):
    """Migrates a copy of a file."""
    if parsed(path) is not None:
        with open(path, "rb") as file:
            migrate(file.read(), path)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["stdlib", "purelib"])
def test_some_files_are_read(place):
    for path in sample(place, 40):
        tree = parsed(path)
        if tree is not None:
            evidence.uses(walks.nodes(tree), path)


@pytest.mark.slow
def test_some_files_are_migrated():
    for path in sample("stdlib", 10):
        migrate_file(path)


@pytest.mark.slow
@pytest.mark.proof
def test_the_standard_library_is_read():
    for path in files_of("stdlib"):
        read(path)


@pytest.mark.slow
@pytest.mark.proof
def test_the_standard_library_is_migrated():
    for path in files_of("stdlib"):
        migrate_file(path)


@pytest.mark.slow
@pytest.mark.proof
def test_some_installed_packages_are_read_and_migrated():
    for path in sample("purelib", 200):
        read(path)
        migrate_file(path)


@needs_unparse
@hypothesis.settings(max_examples=60)
@hypothesis.given(hypothesis.strategies.data())
def test_random_programs_are_read_and_migrated(data):
    text = random_trees.mixed(
        lambda every: data.draw(hypothesis.strategies.sampled_from(every)),
        data.draw(hypothesis.strategies.integers(1, 6)),
    )
    hypothesis.assume(text is not None)
    evidence.uses(walks.nodes(ast.parse(text)), "random.py")
    migrate(text.encode())


def test_a_call_of_a_bare_name_is_no_question_for_members(write):
    path = write(script="def get(x):\n  return x\nget('a')\nvars().get('b')\nf()('c')")
    assert not program.read(path).faults


def test_a_file_that_cannot_be_read_is_named_and_the_rest_decides(write, monkeypatch):
    path = write(script="import helper, other", helper="s.experimental_run_v2(f)", other="x = 1")
    uses = evidence.uses

    def failing(nodes, path):
        if path.endswith("other.py"):
            raise AttributeError("a fault")
        return uses(nodes, path)

    monkeypatch.setattr(evidence, "uses", failing)
    found = program.read(path)
    assert found.decision.era == "v2_0"
    assert len(found.faults) == 1 and "other.py cannot be read" in found.faults[0]
    assert "AttributeError: a fault" in found.faults[0]


def test_a_module_that_is_not_python_3_is_named(write):
    path = write(script="import helper\ns.experimental_run_v2(f)", helper="print 'x'")
    found = program.read(path)
    assert found.decision.era == "v2_0"
    assert len(found.faults) == 1 and "helper.py:1 is not Python 3" in found.faults[0]


def test_a_deeply_nested_module_is_named(write):
    path = write(script="import helper\ns.experimental_run_v2(f)", helper="(" * 500 + ")" * 500)
    found = program.read(path)
    assert found.decision.era == "v2_0" and "helper.py" in found.faults[0]
