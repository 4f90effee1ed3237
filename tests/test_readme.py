"""README says what is true: its code runs, its commands are the ones CI runs."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from compat.make import readme_command

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text("utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.S)


def run(arguments):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("TPUDIST")
    }
    return subprocess.run(
        [sys.executable] + arguments,
        cwd=str(ROOT),
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def printed(block):
    """What the comments behind the block's print calls promise."""
    return re.findall(r"^print\(.*\)  # (.*)$", block, re.M)


@pytest.mark.slow
@pytest.mark.parametrize("block", PYTHON)
def test_python_blocks_run_and_print_what_they_say(block):
    pytest.importorskip(
        "tensorflow", minversion="2.2", reason="the block is eager TensorFlow 2.2 code"
    )
    done = run(["-c", block])
    assert done.returncode == 0, done.stderr
    for promise in printed(block):
        assert promise.rstrip("0").rstrip(".") in done.stdout


PROGRAM = re.search(r"```python train.py\n(.*?)```", TEXT, re.S).group(1)
BEFORE_AND_AFTER = re.findall(r"^\$ (.*)\n((?:[^$`].*\n)+)", TEXT, re.M)
INSTEAD = re.findall(r"^\| `(.*)` \| `(.*?)`.* \|$", TEXT.partition("## The error")[0], re.M)[-5:]


@pytest.fixture
def typed(tmp_path):
    """Types a command where README's program is; returns what is printed."""
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TPU")}
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    environ.update(PATH=path, PYTHONPATH=str(ROOT), PYTHONWARNINGS="ignore")

    def start(command):
        here = re.sub(r"^tpudist ", "python -m tpudist ", command)
        done = subprocess.run(
            here, shell=True, cwd=str(tmp_path), env=environ, stdout=-1, stderr=-2, text=True
        )
        return done.stdout

    return start


@pytest.mark.slow
@pytest.mark.parametrize(("command", "lines"), BEFORE_AND_AFTER)
def test_before_and_after_are_what_the_program_prints(typed, command, lines):
    pytest.importorskip("tensorflow", minversion="2.0", reason="contrib left with TensorFlow 2.0")
    printed = typed(command).splitlines()
    assert [line for line in lines.splitlines() if line not in printed] == []


@pytest.mark.slow
@pytest.mark.parametrize(("command", "words"), INSTEAD)
def test_what_else_one_may_think_of_ends_as_told(typed, command, words):
    tensorflow = pytest.importorskip("tensorflow", reason="it is what is tried")
    of_image = re.match(r"docker .*:([\d.]+) (python .*)", command)
    if of_image and of_image.group(1) != tensorflow.__version__:
        pytest.skip("that image has TensorFlow %s" % of_image.group(1))
    if not of_image:
        pytest.importorskip("tensorflow", minversion="2.0", reason="contrib left with 2.0")
        first = command.split()[0].replace("tpudist", "python")
        assert shutil.which(first, path=os.path.dirname(sys.executable)) or first == "sed"
    assert words in typed(of_image.group(2) if of_image else command)


def test_there_are_five_things_that_one_may_think_of():
    assert len(INSTEAD) == 5 and len(BEFORE_AND_AFTER) == 2


def test_commands_behind_promises_are_there():
    promises = TEXT.partition("## What it promises")[2].replace("\n  ", " ")
    commands = re.findall(r"\(`((?:python -m|pytest) .*?)`", promises)
    assert len(commands) == 5
    for words in map(str.split, commands):
        if words[0] == "pytest":
            assert all((ROOT / word).is_dir() for word in words[1:])
        else:
            assert importlib.util.find_spec(words[2])


def test_counts_of_programs_are_those_of_their_page():
    page = (ROOT / "compat" / "PROGRAMS.md").read_text("utf-8")
    (whole,) = re.findall(r"^(\d+) programs of", page, re.M)
    ran, of = re.search(r"^Run to their end: .* (\d+) of (\d+) on 2.21\.$", page, re.M).groups()
    words = " ".join(TEXT.split())
    assert (
        "Of %s public programs, %s of the %s that were run on TensorFlow" % (whole, ran, of)
        in words
    )


def test_some_python_block_promises_output():
    assert sum(len(printed(block)) for block in PYTHON) >= 1


def test_exactly_two_commands():
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.S)
    assert len(blocks) == 2
    assert all(len(block.strip().splitlines()) == 1 for block in blocks)


def test_the_commands_are_complete():
    commands = readme_command.commands()
    for command in commands.values():
        assert re.search(r"python3 -m venv .*pip install", command)
    assert commands["main"].endswith("python examples/run_all.py")
    assert " -m pytest " in commands["test"] and commands["test"].endswith('-m "not slow"')


def test_run_options_are_those_of_the_command_line():
    usage = re.search(r"^tpudist run (.*)$", TEXT, re.M).group(1)
    help_text = run(["-m", "tpudist", "run", "--help"]).stdout
    for option in re.findall(r"--\w+", usage):
        assert option in help_text


def test_at_most_150_lines():
    assert len(TEXT.splitlines()) <= 150


def test_links_lead_to_files():
    guides = sorted((ROOT / "examples" / "guides").glob("*.md"))
    found = 0
    for page in [ROOT / "README.md"] + guides:
        for link in re.findall(r"\]\(([^):#]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), "%s: %s" % (page.name, link)
            found += 1
    assert found > len(guides)


def test_every_guide_is_linked():
    guides = (ROOT / "examples" / "guides").glob("*.md")
    assert [each.name for each in guides if "guides/%s)" % each.name not in TEXT] == []


def test_environment_variables_exist():
    source = "".join(path.read_text("utf-8") for path in (ROOT / "tpudist").rglob("*.py"))
    for name in set(re.findall(r"\bTPUDIST_[A-Z_]+", TEXT)):
        assert '"%s"' % name in source
