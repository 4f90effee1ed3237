"""The guides say what is true: their files and commands are run, in their order."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from tests import ROOT

GUIDES = sorted(pathlib.Path(ROOT, "examples", "guides").glob("*.md"))
_BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.M | re.S)


def blocks(guide):
    """(language, file name or "", text) of each block of code of a guide."""
    return _BLOCK.findall(guide.read_text("utf-8"))


def commands(text):
    """(command, the lines that it prints) of a block of the terminal."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed.splitlines()


def printed_in_order(lines, output):
    """The first of `lines` that `output` does not have behind the one before it, or None.

    Other lines may stand between them: TensorFlow's own messages do.
    """
    rest = iter(output.splitlines())
    return next((line for line in lines if line and line not in rest), None)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_block_is_a_file_or_of_the_terminal(guide):
    assert [kind for kind, name, _ in blocks(guide) if not name and kind != "console"] == []
    assert guide.read_text("utf-8").count("```") == 2 * len(blocks(guide))


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_has_at_most_150_lines(guide):
    assert len(guide.read_text("utf-8").splitlines()) <= 150


#: {guide: (the first TensorFlow that its commands need, why)}; others need none.
NEEDS = {
    "compiler": ("2.21", "the steps of older releases compile to other figures"),
    "many_machines": ("2.15", "workers of older releases do not wait for the chief's files"),
    "pins": ("1.15", "the guide names 1.15 and newer"),
    "virtual_tpu": ("1.15", "tf.function of 2.x began with 1.14, and with 1.15 on TPUs"),
}


def the_same_on_every_release(line):
    """Whether a line has no number: places and losses differ a little before the newest release."""
    return not re.search("[0-9]", line)


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_commands_print_what_a_guide_says(guide, tmp_path):
    """On the newest release line by line; on others the lines without a number."""
    tensorflow = pytest.importorskip("tensorflow")
    first, why = NEEDS.get(guide.stem, ("1.13", ""))
    pytest.importorskip("tensorflow", minversion=first, reason=why)
    is_newest = tensorflow.__version__.startswith("2.21.")
    if guide.stem == "compiler":
        pytest.importorskip("libtpu", reason="the TPU compiler is libtpu")
    if guide.stem == "tensorflow_1" and is_newest:
        pytest.importorskip("tf_keras", reason="Keras of TensorFlow 1 is Keras 2")
    if guide.stem == "migrate" and sys.version_info < (3, 8):
        pytest.skip("before 3.8 Python does not say where code ends")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TPU")}
    environ.pop("CI", None)
    environ.update(PYTHONPATH=ROOT, PYTHONUNBUFFERED="1", PYTHONWARNINGS="ignore")
    environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), environ["PATH"]])
    for kind, name, text in blocks(guide):
        if name:
            tmp_path.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
            tmp_path.joinpath(name).write_text(text, "utf-8")
        for command, lines in commands(text) if kind == "console" else ():
            done = subprocess.run(
                command,
                shell=True,
                cwd=str(tmp_path),
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert lines or done.returncode == 0, done.stdout
            output = done.stdout.replace(str(tmp_path) + os.sep, "")
            lines = lines if is_newest else list(filter(the_same_on_every_release, lines))
            missing = printed_in_order(lines, output)
            assert missing is None, "%s\nprinted no %r:\n%s" % (command, missing, output)


def test_the_test_of_the_pins_guide_passes_here(tmp_path):
    """On every release: .ci/run has this file among what it runs on several."""
    pytest.importorskip("tensorflow", minversion="1.15", reason="the guide names 1.15 and newer")
    (guide,) = [guide for guide in GUIDES if guide.stem == "pins"]
    ((_, name, text),) = [block for block in blocks(guide) if block[1]]
    tmp_path.joinpath(name).write_text(text, "utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TPU")}
    environ.pop("CI", None)
    environ.update(PYTHONPATH=ROOT, PYTEST_ADDOPTS="")
    for said in ("pins: 1 recorded", "1 passed"):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
        done = subprocess.run(
            command, cwd=str(tmp_path), env=environ, stdout=subprocess.PIPE, text=True
        )
        assert done.returncode == 0 and said in done.stdout, done.stdout


def test_the_reading_order_says_how_long_each_part_is():
    text = pathlib.Path(ROOT, "examples", "guides", "how_it_works.md").read_text("utf-8")
    (whole,) = re.findall(r"What a program meets is ([\d,]+) lines", text)
    rows = re.findall(r"^\| (`tpudist/.*?) \| (\d+) \|", text, re.M)
    for places, said in rows:
        counted = sum(map(_lines, re.findall("`(.*?)`", places)))
        assert abs(counted - int(said)) <= 0.05 * counted, places
    assert sum(int(said) for _, said in rows) == pytest.approx(int(whole.replace(",", "")), abs=50)


def _lines(place):
    """Lines of a file, or of all Python files of a folder."""
    path = pathlib.Path(ROOT, place)
    files = path.rglob("*.py") if path.is_dir() else [path]
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)
