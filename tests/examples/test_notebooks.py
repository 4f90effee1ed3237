"""The notebooks run in a kernel, and print what they show."""

import os
import pathlib
import re

import pytest

from tests import ROOT

NOTEBOOKS = sorted(pathlib.Path(ROOT, "examples").glob("*.ipynb"))
_NUMBER = re.compile(r"\d+\.\d+")
_KERAS_3 = re.compile(r"^keras: .* is Keras 3 here.*\n", re.M)


def printed(book):
    """The text of each cell's output, but for what is said where Keras 3 is installed."""
    texts = [
        "".join(each.get("text", "") for each in cell.get("outputs", ())) for cell in book.cells
    ]
    return [_KERAS_3.sub("", text) for text in texts]


def test_there_is_one_for_each_era():
    eras = [re.search(r"--era (\S+)", path.read_text("utf-8")).group(1) for path in NOTEBOOKS]
    assert sorted(eras) == ["2.0", "2.2", "contrib"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path, monkeypatch):
    pytest.importorskip("tensorflow", minversion="2.21", reason="kernels are of newer Pythons")
    pytest.importorskip("ipykernel", reason='pip install ".[test-notebooks]" brings it')
    nbclient = pytest.importorskip("nbclient", reason='pip install ".[test-notebooks]" brings it')
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])
    )
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    book = nbformat.read(str(path), as_version=4)
    shown = printed(book)
    nbclient.NotebookClient(
        book,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": os.path.join(ROOT, "examples")}},
    ).execute()
    for now, then in zip(printed(book), shown):
        assert _NUMBER.sub("_", now) == _NUMBER.sub("_", then)
        numbers = [[float(each) for each in _NUMBER.findall(text)] for text in (now, then)]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.02)
