"""The tables of names.txt: what each kind of section is read as, and that generators keep them."""

import subprocess
import sys

import pytest

from compat.make import tables as generator
from tests import ROOT
from tpudist import surfaces
from tpudist.surfaces import tables

TEXT = """# What a file says of itself.

[TEXTS: texts]
LONG | a text that
    goes on

[A: names]
# A comment.
one two
x.y: three

[B: texts]
x: one two | $LONG; and more
three |

[C: leads]
x: one two=2 | y.
four | tpudist.z:

[D: texts of each]
x: one two | 1
.y: one | 2

[E first second, F: leads]
one | a.

[E second: leads]
two | a.

[G: names of each]
x: one two
y:

[H: homes]
x: one | y
x: two three | z
"""


@pytest.fixture
def read(monkeypatch, tmp_path):
    """Reads a table of `TEXT`."""
    (tmp_path / "names.txt").write_text(TEXT)
    monkeypatch.setattr(tables, "__file__", str(tmp_path / "tables.py"))
    for function in (tables.table, tables._sections):
        function.cache_clear()
    yield tables.table
    for function in (tables.table, tables._sections):
        function.cache_clear()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("A", {"one", "two", "x.y.three"}),
        ("B", dict.fromkeys(("x.one", "x.two"), "a text that goes on; and more")),
        ("C", {"x.one": "y.one", "x.two": "y.2", "four": "tpudist.z:four"}),
        ("D", {"x": {"one": "1", "two": "1"}, ".y": {"one": "2"}}),
        ("E", {"first": {"one": "a.one"}, "second": {"one": "a.one", "two": "a.two"}}),
        ("F", {"one": "a.one"}),
        ("G", {"x": {"one", "two"}, "y": set()}),
        ("H", {"x": {"z": {"two", "three"}, "y": {"one"}}}),
    ],
)
def test_a_table(read, name, found):
    if name == "B":
        found["three"] = ""
    assert read(name) == found
    assert list(read("H")["x"]) == ["z", "y"]


def test_a_name_of_no_table_is_no_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'NONE'"):
        surfaces.NONE
    assert all(getattr(surfaces, name) for name in surfaces.__annotations__)


def test_a_generator_writes_what_is_there(monkeypatch, tmp_path):
    page = tmp_path / "names.txt"
    page.write_bytes(generator.PAGE.read_bytes())
    monkeypatch.setattr(generator, "PAGE", page)
    for name in ("FIRST_GENERATION", "SECOND_GENERATION"):
        generator.write(name, generator.of_modules(getattr(surfaces, name)))
    assert page.read_bytes() == (tmp_path / "names.txt").read_bytes()
    generator.write("FIRST_GENERATION", ["one"])
    assert "\n# here every" in page.read_text() or "python -m compat" in page.read_text()
    assert "\none\n\n[SECOND_GENERATION" in page.read_text()


@pytest.mark.parametrize(
    "code", ["import tpudist", "import tpudist.surfaces", "import tpudist.cli"]
)
def test_an_import_reads_no_table(code):
    code += (
        "\nfrom tpudist.surfaces import tables\nassert not tables._sections.cache_info().currsize"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
