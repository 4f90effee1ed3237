"""Pin files found in folders, and their records side by side."""

import pytest

from tpudist.errors import PinError
from tpudist.tools.pins import report, store


def put(path, name, kind="value", rtol=0.0, **on):
    path.parent.mkdir(parents=True, exist_ok=True)
    for release, record in on.items():
        release = release[1:].replace("_", ".")
        store.put(str(path), "test", name, store.Entry(kind, rtol, 0.0, {release: record}), release)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("a", "sub/b", ".venv/c", "build/d", "lib/site-packages/e", "__pycache__/f"):
        put(tmp_path / (name + ".pins.json"), "x", r2_15=1)
    (tmp_path / "other.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ([], ["a.pins.json", "sub/b.pins.json"]),
        (["."], ["a.pins.json", "sub/b.pins.json"]),
        (["sub"], ["sub/b.pins.json"]),
        (["a.py", "a.pins.json", "./a.py"], ["a.pins.json"]),
        (["a.py", "absent.py"], ["a.pins.json"]),
    ],
)
def test_files(folder, paths, found):
    assert [path.replace("\\", "/") for path in report.files(paths)] == found


@pytest.mark.parametrize("paths", [["absent.py"], ["sub/empty"], ["other.json"]])
def test_no_files(folder, paths):
    (folder / "sub" / "empty").mkdir()
    with pytest.raises(PinError, match="no pin file"):
        report.files(paths)


def test_the_oldest_release_is_the_first(tmp_path):
    path = tmp_path / "x.pins.json"
    put(path, "x", r2_21=[1.0, 2.0], r2_2=[1.0, 2.5], r1_15=[1.0, 2.0])
    (pin,) = report.read([str(path)])
    assert (pin.first, list(pin.values)) == ("1.15", ["1.15", "2.2", "2.21"])
    assert [each.path for each in pin.differences["2.2"]] == [(1,)] and pin.differences[
        "2.21"
    ] == []
    assert report.differing([pin]) == [pin]


def test_tolerances_of_the_test_hold(tmp_path):
    path = tmp_path / "x.pins.json"
    put(path, "x", rtol=0.5, r1_15=1.0, r2_15=1.4)
    assert report.differing(report.read([str(path)])) == []


def test_recorded_releases_of_all_pins(tmp_path):
    path = tmp_path / "x.pins.json"
    put(path, "x", r2_21=1, r2_2=1)
    put(path, "y", r1_15=1)
    assert report.recorded(report.read([str(path)])) == ["1.15", "2.2", "2.21"]
