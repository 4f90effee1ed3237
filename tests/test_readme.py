"""README says what is true: its code runs, its commands are the ones CI runs."""

import os
import pathlib
import re
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
