"""Law 3: a tool's folder can be deleted, and nothing else notices."""

import functools
import os
import shutil
import subprocess
import sys

import pytest

from tests import ROOT
from tpudist import cli

#: {verb: words behind it, which need no TensorFlow}.
WORDS = {
    "run": ["--help"],
    "launch": ["--help"],
    "doctor": ["--constraints", "1.15"],
    "selftest": ["--help"],
    "matrix": ["--list"],
    "pins": ["--help"],
    "migrate": ["--list-rules"],
    "help": ["run"],
    "completion": ["--help"],
}
TOOLS = {
    verb: module.split(".")[2]
    for verb, module in {**cli.VERBS, **cli.OPTIONS_OF_RUN}.items()
    if module.startswith("tpudist.tools.")
}


_IGNORED = shutil.ignore_patterns(
    *(".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "build", "dist")
)


def _left_out(tool, folder, names):
    """What a copy of the checkout has not: the tool with its tests, and what git ignores."""
    of_tool = {tool, tool + ".py"} if os.path.basename(folder) == "tools" else set()
    return _IGNORED(folder, names) | of_tool


@pytest.fixture
def without(tmp_path):
    """Copies the package without a tool; returns a function that runs Python with that copy."""

    def start(tool, *words):
        copy = str(tmp_path / "copy")
        if not os.path.exists(copy):
            shutil.copytree(ROOT, copy, ignore=functools.partial(_left_out, tool))
        environment = dict(os.environ, PYTHONPATH=copy, PYTEST_ADDOPTS="-p no:tpudist-pins")
        return subprocess.run(
            [sys.executable, *words],
            cwd=copy,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return start


def test_every_folder_of_a_tool_has_a_verb():
    """Else it could not be deleted: somebody else would have to import it."""
    folder = os.path.join(ROOT, "tpudist", "tools")
    names = {name.partition(".py")[0] for name in os.listdir(folder)} - {"__init__", "__pycache__"}
    assert names == set(TOOLS.values())


@pytest.mark.parametrize("tool", sorted(TOOLS.values()))
def test_the_other_verbs_work_without_it(without, tool):
    done = without(tool, "-m", "tpudist", "--help")
    verbs = [verb for verb in cli.VERBS if TOOLS.get(verb) != tool]
    assert done.returncode == 0, done.stdout
    assert all("\n    %s" % verb in done.stdout for verb in verbs)
    assert "\n    %s " % tool not in done.stdout
    code = (
        "import sys; from tpudist import cli\nfor words in %r:\n    try: code = cli.main(words)\n"
    )
    code += "    except SystemExit as end: code = end.code\n    assert not code, words\n"
    done = without(tool, "-c", code % [[verb, *WORDS[verb]] for verb in verbs])
    assert done.returncode == 0, done.stdout


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize("tool", sorted(TOOLS.values()))
def test_the_other_tools_pass_their_tests_without_it(without, tool):
    folders = ["tests/tools/" + name for name in os.listdir(os.path.join(ROOT, "tests", "tools"))]
    others = [each for each in folders if not each.endswith(("/" + tool, ".py", "__"))]
    words = ["-m", "pytest", "-q", "-m", "not slow", *sorted(others)]
    done = without(tool, *words)
    assert done.returncode == 0, done.stdout[-4000:]
