"""What a user says: marks on lines, and what is left out."""

import json
import os
import re

import pytest

from tests.tools.migrate import harness
from tpudist import cli

HEAD = "import tensorflow as tf\nimport library\n"
STRATEGY = "s = tf.distribute.get_strategy()\n"


def migrated(folder, text, **changes):
    """The Result of a file."""
    harness.put(folder, {"a.py": text})
    return harness.results(folder, "2.2", **changes)["a.py"]


@pytest.mark.parametrize(
    "definition",
    [
        "s = library.make()  # tpudist: strategy\n",
        "s, n = library.both()  # tpudist: strategy\n",
        "s: library.Any = library.make()  #tpudist:strategy because\n",
        "def make():  # tpudist: strategy\n    return library.make()\ns = make()\n",
        "class C:\n    def __init__(self):\n        self.t = library.make()  # tpudist: strategy\n"
        "s = C().t\n",
        "for s in library.all():  # tpudist: strategy\n    pass\n",
        "with library.one() as s:  # tpudist: strategy\n    pass\n",
    ],
)
def test_a_mark_settles_what_a_definition_is(definition, tmp_path):
    found = migrated(tmp_path, HEAD + definition + "s.experimental_run_v2(f)\n")
    assert not found.left and found.after.decode().endswith("s.run(f)\n")
    unmarked = definition.replace("tpudist:", "")
    found = migrated(tmp_path, HEAD + unmarked + "s.experimental_run_v2(f)\n")
    assert len(found.left) == 1 and found.before == found.after


def test_a_mark_on_a_parameter(tmp_path):
    text = HEAD + "def f(\n    a,\n    b,  # tpudist: strategy\n):\n    %s\n"
    found = migrated(tmp_path, text % "a.experimental_run_v2(b.experimental_run_v2(g))")
    assert "a.experimental_run_v2(b.run(g))" in found.after.decode()


def test_a_mark_says_that_it_is_something_else(tmp_path):
    found = migrated(
        tmp_path, HEAD + "s = library.make()  # tpudist: other\ns.experimental_run_v2(f)\n"
    )
    assert not found.left and found.before == found.after


@pytest.mark.parametrize(
    ("mark", "count"),
    [("ignore", 0), ("ignore[run]", 0), ("ignore[reduce, run]", 0), ("ignore[reduce]", 1)],
)
def test_a_line_may_be_ignored(mark, count, tmp_path):
    use = "s.experimental_run_v2(f)  # tpudist: %s\n" % mark
    found = migrated(tmp_path, HEAD + STRATEGY + use)
    assert found.after.decode().count("s.run(f)") == count
    found = migrated(tmp_path, HEAD + "s = library.make()\n" + use)
    assert len(found.left) == count


def test_an_import_may_be_ignored(tmp_path):
    text = "import tensorflow as tf  # tpudist: ignore[imports]\n" + STRATEGY
    found = migrated(tmp_path, text + "s.experimental_run_v2(f)\n")
    assert found.after.decode() == text + "s.run(f)\n"


TEXT = HEAD + STRATEGY + "s.experimental_run_v2(f)\n"


def looked_at(capsys, *arguments):
    """The names of the files that matter, of a run with a JSON report."""
    cli.main(["migrate", "--report", "json"] + [str(each) for each in arguments])
    report = json.loads(capsys.readouterr().out)
    return report["to"], {each["path"].rpartition("/")[2] for each in report["files"]}


@pytest.mark.parametrize("pattern", ["old", "old/*", "*/old/*.py", "b.py", "old/"])
def test_exclude(pattern, tmp_path, capsys):
    harness.put(tmp_path, {"a.py": TEXT, "old/b.py": TEXT})
    found = looked_at(capsys, tmp_path, "--to", "2.2", "--exclude", pattern)
    assert found[1] == {"a.py"}


def test_what_is_passed_over_is_said(tmp_path, capsys):
    harness.put(
        tmp_path,
        {
            "a.py": TEXT,
            "dist/b.py": TEXT,
            "bin/train": "#!/usr/bin/env python\n" + TEXT,
            "bin/x": "#!",
        },
    )
    cli.main(["migrate", str(tmp_path), "--to", "2.2"])
    line = [each for each in capsys.readouterr().out.splitlines() if each.startswith("Not read")]
    assert len(line) == 1 and line[0].count(", ") == 2
    assert "dist/" in line[0] and "bin/train" in line[0] and "bin/x" not in line[0]


def test_the_hook_of_pre_commit_is_a_command():
    path = os.path.join(harness.CASES, "..", "..", "..", "..", ".pre-commit-hooks.yaml")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    entry = re.search(r"entry: (.*)", text).group(1).split()
    arguments = re.search(r"args: \[(.*)\]", text).group(1).split(", ")
    options = cli.parser().parse_args(entry[1:] + arguments + ["a.py"])
    assert entry[:2] == ["tpudist", "migrate"]
    assert options.write and options.to in ("2.0", "2.2", "latest") and options.paths == ["a.py"]
