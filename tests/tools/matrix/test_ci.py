"""CI configurations: the same command, whole and with every option."""

import re
import shlex

import pytest

from tpudist import __version__, cli
from tpudist.toolbox import table

COMMAND = [
    "--releases",
    "1.15,2.15",
    "--project",
    ".[test]",
    "--with",
    "pytest<8",
    "--tpu",
    "virtual:v3-32",
]


def written(capsys, arguments=("pytest", "tests/", "-k", "a or b")):
    assert cli.main(["matrix", "--github"] + COMMAND + ["--"] + list(arguments)) == 0
    return capsys.readouterr().out


def options_of(text):
    """What the `tpudist matrix` command in a text is parsed to."""
    line = re.search(r"^[^#\n]*tpudist (matrix --rel.*)$", text, re.M).group(1)
    line = line.replace("${{ matrix.release }}", "RELEASE")
    words, command = cli.split(shlex.split(line), cli.parser())
    return cli.parser().parse_args(words), command


def test_github(capsys):
    text = written(capsys)
    options, command = options_of(text)
    assert (options.project, options.extra) == (".[test]", ["pytest<8"])
    assert options.tpu == "virtual:v3-32"
    assert command == ["pytest", "tests/", "-k", "a or b"]
    assert "tpudist matrix --releases ${{ matrix.release }} " in text
    assert '{release: "1.15", python: "3.7", os: ubuntu-22.04}' in text
    assert '{release: "2.15", python: "3.11", os: ubuntu-latest}' in text
    assert '"tpudist[matrix]==%s"' % __version__ in text


def test_github_is_yaml(capsys):
    yaml = pytest.importorskip("yaml", reason="no YAML reader here")
    job = yaml.safe_load(written(capsys))["jobs"]["tensorflow"]
    assert [cell["release"] for cell in job["strategy"]["matrix"]["include"]] == ["1.15", "2.15"]
    assert job["steps"][-1]["run"].startswith("tpudist matrix --releases")


def test_it_tells_how_it_was_written(capsys):
    line = re.search("# Written by: (.*)", written(capsys)).group(1)
    assert line.startswith("tpudist matrix --github --releases 1.15,2.15 ")


def test_a_table_of_ones_own_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.cfg").write_text("[9.1]\npython = 3.11\nrequirement = tensorflow==9.1.0\n")
    arguments = ["matrix", "--github", "--releases", "9.1", "--table", "mine.cfg", "--fail-fast"]
    assert cli.main(arguments + ["--", "pytest"]) == 0
    options, _ = options_of(capsys.readouterr().out)
    assert options.table == "mine.cfg" and options.fail_fast


def test_a_command_of_several_lines_is_refused(capsys):
    assert cli.main(["matrix", "--github", "--releases", "2.15", "--", "python", "-c", "a\nb"]) == 2
    assert "has one line for it" in capsys.readouterr().err


def test_all_releases_of_the_table(capsys):
    assert cli.main(["matrix", "--github", "--releases", "all"]) == 0
    assert len(re.findall("release: ", capsys.readouterr().out)) == len(table.read())
