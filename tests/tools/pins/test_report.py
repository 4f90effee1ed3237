"""``tpudist pins report``: which releases agree, and in what others differ."""

import re

import pytest

from tpudist import cli
from tpudist.tools.pins import store

CURVE = [1.0, 0.5, 0.25, 0.125]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two pin files with records on four releases, of which some differ."""
    (tmp_path / "tests").mkdir()

    def put(file, test, name, kind="value", **on):
        for release, record in on.items():
            release = release[1:].replace("_", ".")
            store.put(
                str(tmp_path / "tests" / (file + ".pins.json")),
                test,
                name,
                store.Entry(kind, 1e-5, 0.0, {release: record}),
                release,
            )

    put(
        "test_a", "test_same", "loss", r1_15=CURVE, r2_2=CURVE, r2_15=[1.0, 0.5, 0.25, 0.125 + 1e-9]
    )
    put("test_a", "test_late", "loss", r1_15=CURVE, r2_15=[1.0, 0.5, 0.3, 0.2], r2_21=CURVE[:3])
    put("test_a", "test_nan", "loss", r1_15=CURVE, r2_15=[1.0, {"$float": "nan"}, 0.25, 0.125])
    put("test_b", "test_nest", "h", r1_15={"loss": CURVE, "n": 1}, r2_15={"loss": CURVE, "n": 2})
    put("test_b", "test_shape", "out", "structure", r2_2=["float32[2]"], r2_15=["float32[3]"])
    put("test_b", "test_alone", "<x>", r2_21=3)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cells(text):
    """{pin: [cell, ...]} of the table."""
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines() if ": " in line]
    return {row[0]: row[1:] for row in rows if len(row) > 1}


def test_table(folder, capsys):
    assert cli.main(["pins", "report"]) == 1
    text = capsys.readouterr().out
    text = re.search(r"^ +1\.15 .*", text, re.M | re.S).group()
    assert text.splitlines()[0].split() == ["1.15", "2.2", "2.15", "2.21"]
    assert cells(text) == {
        "test_same: loss": ["first", "same", "same", "-"],
        "test_late: loss": ["first", "-", "step 2", "step 3"],
        "test_nan: loss": ["first", "-", "step 1", "-"],
        "test_nest: h": ["first", "-", "differs", "-"],
        "test_shape: out": ["-", "first", "differs", "-"],
        "test_alone: <x>": ["-", "-", "-", "first"],
    }
    assert text.index("tests/test_a.pins.json") < text.index("tests/test_b.pins.json")
    assert text.splitlines()[-1] == (
        "6 pins on TensorFlow 1.15, 2.2, 2.15, 2.21: 4 differ between releases; "
        "1 recorded on one release only."
    )


@pytest.mark.parametrize("path", ["tests/test_a.py", "tests/test_a.pins.json"])
def test_a_module_of_choice(folder, path, capsys):
    cli.main(["pins", "report", path])
    assert "test_nest" not in capsys.readouterr().out


def test_agreement_is_exit_code_0(folder, capsys):
    pins = store.read("tests/test_a.pins.json")
    (folder / "one.pins.json").write_text(store.dumps({"test_same": pins["test_same"]}))
    assert cli.main(["pins", "report", "one.py"]) == 0
    assert "1 pin on TensorFlow 1.15, 2.2, 2.15: all agree." in capsys.readouterr().out


def test_no_pins(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["pins", "report"]) == 2
    assert "no pin file" in capsys.readouterr().err


def test_what_differs_is_shown_above_the_table(folder, capsys):
    cli.main(["pins", "report"])
    text = capsys.readouterr().out
    (late,) = re.findall("test_late: loss, expected as on .* obtained on 2.15:((?:\n.+)+)", text)
    assert "first difference at step 2" in late
    assert "test_same: loss, expected" not in text
