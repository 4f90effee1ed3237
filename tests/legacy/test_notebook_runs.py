"""``tpudist run notebook.ipynb``: cells in order, with what Colab made of their lines."""

import json
import os
import subprocess
import sys

import pytest

from tests import ROOT

CELLS = (
    "%tensorflow_version 1.x\n!pip install tensorflow==1.15\n%pip install more\n"
    "!cd / && python -m pip -q install last\n"
    "import tensorflow as tf\nfrom google.colab import auth, files\nauth.authenticate_user()",
    "%%time\nx = tf.contrib.layers.xavier_initializer and tf.placeholder(tf.float32, [2])",
    "!echo shell {1 + 1}\nwith tf.Session() as session:\n"
    "    print(session.run(x * 2, {x: [1, 2]}))\nfiles.download('out.txt')\n3 + 4",
)


def run(folder, *cells, pythonpath=ROOT):
    """Runs a notebook of code cells, behind one of prose."""
    texts = [{"cell_type": "markdown", "source": ["# Title"]}]
    texts += [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells]
    (folder / "train.ipynb").write_text(json.dumps({"cells": texts, "nbformat": 4}), "utf-8")
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tpudist", "run", "--tpu", "virtual:2"]
        + ["train.ipynb"],
        cwd=str(folder),
        env=dict(os.environ, PYTHONPATH=pythonpath, TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    pytest.importorskip("IPython", reason='pip install ".[test-notebooks]" brings it')
    return run(tmp_path_factory.mktemp("notebook"), *CELLS)


def test_the_cells_run_in_order_with_the_era_that_their_names_are_of(ran):
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["shell 2", "[2. 4.]", "Out[3]: 7"]
    assert ran.stderr.startswith("era: contrib (tf.")


def test_what_would_change_the_environment_is_not_run_and_said(ran):
    for line in ("!pip install tensorflow==1.15", "%pip install more"):
        assert "not run: %s" % line in ran.stderr
    assert "not run: !cd / && python -m pip -q install last" in ran.stderr
    assert "%tensorflow_version 1.x" in ran.stderr and "out.txt" in ran.stderr


@pytest.mark.parametrize(
    ("cell", "code", "words"),
    [
        ("def f():\n    raise ValueError('mine')\nf()", 1, 'train.ipynb, cell 2", line 2, in f'),
        ("import sys\nsys.exit(3)", 3, ""),
        ("from google.colab import drive\ndrive.mount('/no/drive')", 1, "Instead: the files"),
        ("from google.colab import output", 1, "only Colab has it"),
        ("def f(:", 2, "is not Python 3"),
    ],
)
def test_the_notebook_ends_with_the_first_cell_that_fails(tmp_path, cell, code, words):
    pytest.importorskip("IPython", reason='pip install ".[test-notebooks]" brings it')
    done = run(tmp_path, "import tensorflow as tf\ntf.Session;", cell, "print('went on')")
    assert (done.returncode, done.stdout.count("went on")) == (code, 0), done.stderr
    assert words in done.stderr and "IPython" not in done.stderr


@pytest.mark.parametrize("text", ["{", '{"worksheets": []}'])
def test_what_is_no_notebook_is_told(tmp_path, text):
    pytest.importorskip("IPython", reason='pip install ".[test-notebooks]" brings it')
    path = tmp_path / "a.ipynb"
    path.write_text(text)
    command = [sys.executable, "-m", "tpudist", "run", str(path)]
    done = subprocess.run(command, env=dict(os.environ, PYTHONPATH=ROOT), capture_output=True)
    assert done.returncode == 2 and b"a.ipynb is no notebook" in done.stderr


def test_without_ipython_it_is_named(tmp_path):
    (tmp_path / "IPython.py").write_text("raise ImportError('none')")
    pythonpath = os.pathsep.join([str(tmp_path), ROOT])
    done = run(tmp_path, "import tensorflow as tf", pythonpath=pythonpath)
    assert done.returncode == 2 and "pip install ipython" in done.stderr
