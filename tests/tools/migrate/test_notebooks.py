"""Notebooks: what is not Python is kept, and only cells that change are written."""

import difflib
import json

import pytest

from tests.tools.migrate import harness

BEFORE = "from tpudist.v2_0 import tensorflow as tf\nstrategy = tf.distribute.get_strategy()\n"
AFTER = BEFORE.replace("v2_0", "v2_2")
USE = "strategy.experimental_run_v2(fn)\n"
NEW = "strategy.run(fn)\n"


def migrate(folder, raw, name="a.ipynb"):
    """The Result of a file with these bytes."""
    (folder / name).write_bytes(raw)
    return harness.results(folder, "2.2")[name]


def notebook(*cells, **layout):
    """The bytes of a notebook with these code cells, and a Markdown one."""
    every = [{"cell_type": "markdown", "metadata": {}, "source": ["experimental_run_v2\n"]}]
    every += [
        {
            "cell_type": "code",
            "execution_count": 3,
            "metadata": {},
            "outputs": [],
            "source": cell if isinstance(cell, str) else cell.splitlines(True),
        }
        for cell in cells
    ]
    text = json.dumps(
        {"cells": every, "nbformat": 4, "metadata": {"é": 1}},
        **dict({"indent": 1, "ensure_ascii": False}, **layout),
    )
    return (text + "\n").encode("utf-8")


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"ensure_ascii": True}, {"indent": None}])
def test_notebook(tmp_path, layout):
    magic = "%pip install x\n!ls {y}\nstrategy?\n"
    found = migrate(
        tmp_path, notebook(magic + BEFORE, "%%time\n" + USE, "%%bash\nls\n", **layout), "a.ipynb"
    )
    assert not found.refused
    assert found.after == notebook(magic + AFTER, "%%time\n" + NEW, "%%bash\nls\n", **layout)


def test_places_in_a_notebook_are_those_of_the_cell(tmp_path):
    raw = notebook(BEFORE, "x = 1\nhelper().experimental_run_v2(fn)\n")
    found = migrate(tmp_path, raw, "a.ipynb")
    use = found.left[0] if found.left else found.rewritten[0]
    raw = notebook(BEFORE, "x = 1\nfoo.experimental_run_v2(fn)\n")
    use = migrate(tmp_path, raw, "a.ipynb").left[0]
    assert (use.path.rpartition(":")[2], use.line, use.column) == ("cell 2", 2, 1)


@pytest.mark.parametrize(
    "raw",
    [
        b"experimental_run_v2",
        b"{}",
        b'{"experimental_run_v2": 1}',
        b'{"cells": [{"experimental_run_v2": 1}]}',
    ],
)
def test_notebooks_that_are_none_are_refused(tmp_path, raw):
    (tmp_path / "a.ipynb").write_bytes(raw)
    found = harness.results(tmp_path, "2.2")
    assert all(each.refused and each.after == raw for each in found.values())


#: Cells that are not Python as they stand, each with a use that is rewritten.
MIXED = {
    "a value of a command": "files = !ls -l\nx, y = %sx pwd\n" + USE,
    "a command of several lines": "!apt-get install \\\n  libfoo \\\n  libbar\n" + USE,
    "a magic of several lines": "%config a = \\\n   1\n" + USE,
    "an indented cell": "  x = 1\n  " + USE,
    "an indented cell with a magic": "    !ls\n    " + USE,
    "a magic in a branch": "if True:\n    !ls\n    " + USE,
    "help": "strategy.run?\n" + USE + "??strategy\n",
    "a condition that goes on": "x = (7\n     % 2)\n" + USE,
    "a string with what looks like a magic": 'x = """\n%time\n!ls\n"""\n' + USE,
    "await": "await f()\n" + USE,
    "timeit": "%%timeit -n 1\n" + USE,
}


@pytest.mark.parametrize("name", sorted(MIXED))
def test_what_is_not_python_is_kept(name, tmp_path):
    found = migrate(tmp_path, notebook(BEFORE, MIXED[name]))
    assert not found.refused and not found.left
    assert found.after == notebook(AFTER, MIXED[name].replace("experimental_run_v2", "run"))


@pytest.mark.parametrize("cell", ["%%bash\nfoo | bar\n", "%%html\n<b>\n", "print 'two'\n", "1 +\n"])
def test_cells_that_are_no_python_are_kept(cell, tmp_path):
    found = migrate(tmp_path, notebook(BEFORE, cell, USE))
    assert not found.refused and not found.left
    assert found.after == notebook(AFTER, cell, NEW)


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("x = 1\n%time strategy.experimental_run_v2(fn)\n", "IPython"),
        ("print 'two'\nstrategy.experimental_run_v2(fn)\n", "not Python 3"),
    ],
)
def test_a_use_in_what_is_kept_is_told(cell, why, tmp_path):
    (use,) = migrate(tmp_path, notebook(BEFORE, cell)).left
    assert (use.rule, use.line, use.path.rpartition(":")[2]) == ("notebook", 2, "cell 2")
    assert why in use.why and "experimental_run_v2" in use.seen


def colab(*cells):
    """The bytes of a notebook as Colab writes it, with keys in another order."""
    text = json.dumps(
        {
            "nbformat": 4,
            "cells": [
                {"source": cell.splitlines(True), "cell_type": "code", "outputs": [{"source": 1}]}
                for cell in cells
            ],
        },
        indent=2,
    )
    for character in "<>&'":
        text = text.replace(character, "\\u%04x" % ord(character))
    return text.encode("utf-8")


def test_only_lines_that_change_are_written(tmp_path):
    plot = "plot('<b>' > 1)\n"
    raw = colab(plot + BEFORE, plot * 3, "if 1 < 2: " + USE + plot, plot)
    found = migrate(tmp_path, raw)
    assert found.after == colab(plot + AFTER, plot * 3, "if 1 < 2: " + NEW + plot, plot)
    lines = list(difflib.ndiff(raw.decode().splitlines(), found.after.decode().splitlines()))
    assert sum(line.startswith("+") for line in lines) == 2


def test_strings_and_lists_of_one_line(tmp_path):
    raw = json.dumps({"cells": [{"cell_type": "code", "source": BEFORE + USE}], "x": "<"})
    assert migrate(tmp_path, raw.encode()).after.decode() == raw.replace("v2_0", "v2_2").replace(
        "experimental_run_v2", "run"
    )
    raw = raw.replace('"source": ', '"source":[\n').replace('"}]', '"\n]}]')
    json.loads(raw)
    assert json.loads(migrate(tmp_path, raw.encode()).after) == {
        "cells": [{"cell_type": "code", "source": (AFTER + NEW).splitlines(True)}],
        "x": "<",
    }
