"""Pin files: one line a record, so that two branches merge; whole or not at all."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.pins import harness
from tpudist.errors import PinError
from tpudist.tools.pins import store

RELEASES = st.sampled_from(["1.15", "2.2", "2.10", "2.15", "2.21"])
ENTRIES = st.builds(
    store.Entry,
    st.sampled_from(["value", "structure"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.dictionaries(RELEASES, st.integers(), min_size=1),
)
PINS = st.dictionaries(st.text(), st.dictionaries(st.text(), ENTRIES, min_size=1))


def entry(value, *on):
    return store.Entry("value", 1e-5, 1e-8, dict.fromkeys(on or ["2.15"], value))


@given(PINS)
def test_round_trip(tmp_path_factory, pins):
    path = tmp_path_factory.mktemp("pins") / "x.pins.json"
    path.write_text(store.dumps(pins), "utf-8")
    assert store.read(str(path)) == pins


def test_a_record_is_one_line_in_the_order_of_releases():
    text = store.dumps(
        {
            "test_b": {"x": entry([1.0, 2.0], "2.10", "2.2", "1.15")},
            "test_a": {"y": entry({"k": 1})},
        }
    )
    lines = [line.strip().rstrip(",") for line in text.splitlines()]
    assert [line for line in lines if "[1.0" in line] == [
        '"1.15": [1.0, 2.0]',
        '"2.2": [1.0, 2.0]',
        '"2.10": [1.0, 2.0]',
    ]
    assert text.index("test_a") < text.index("test_b") and text.endswith("\n")


def test_branches_that_record_on_two_releases_merge(tmp_path):
    def side(name, release):
        path = tmp_path / name
        path.write_text(base)
        store.put(str(path), "test", "x", entry(2, release), release)
        return str(path)

    base = store.dumps({"test": {"x": entry(1, "1.15", "2.2", "2.15", "2.21")}})
    (tmp_path / "base").write_text(base)
    merged = subprocess.run(
        [
            "git",
            "merge-file",
            "-p",
            side("ours", "1.15"),
            str(tmp_path / "base"),
            side("theirs", "2.21"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert merged.returncode == 0
    (tmp_path / "merged").write_text(merged.stdout)
    assert store.read(str(tmp_path / "merged"))["test"]["x"].on == {
        "1.15": 2,
        "2.2": 1,
        "2.15": 1,
        "2.21": 2,
    }


def test_put_keeps_other_releases_and_tests(tmp_path):
    path = str(tmp_path / "x.pins.json")
    store.put(path, "a", "x", entry(1, "1.15"), "1.15")
    store.put(path, "b", "x", entry(2, "1.15"), "1.15")
    store.put(path, "a", "x", entry(3, "2.15"), "2.15")
    assert store.read(path)["a"]["x"].on == {"1.15": 1, "2.15": 3}
    assert store.read(path)["b"]["x"].on == {"1.15": 2}


def test_drop(tmp_path):
    path = str(tmp_path / "x.pins.json")
    store.put(path, "a", "x", entry(1, "1.15"), "1.15")
    store.put(path, "a", "x", entry(1, "2.15"), "2.15")
    store.drop(path, [("a", "x"), ("b", "gone")], "1.15")
    assert store.read(path)["a"]["x"].on == {"2.15": 1}
    store.drop(path, [("a", "x")], "2.15")
    assert store.read(path) == {}


def test_processes_that_record_at_once_lose_nothing(tmp_path):
    path = str(tmp_path / "x.pins.json")
    code = (
        "import sys; from tpudist.tools.pins import store\n"
        "for i in range(20):\n"
        "  store.put(%r, sys.argv[1], str(i), store.Entry('value', 0, 0, {'2.15': i}), '2.15')\n"
        % path
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, name], env=harness.quiet()) for name in "abc"
    ]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert {test: len(pins) for test, pins in store.read(path).items()} == dict(a=20, b=20, c=20)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"format": 2, "pins": {}}', "format is 2"),
        ("<<<<<<< HEAD\n{}", "merge conflict"),
        ('{"format": 1, "pins": {"t": {"x": {}}}}', "format 1"),
    ],
)
def test_what_is_no_pin_file(tmp_path, text, words):
    path = tmp_path / "x.pins.json"
    path.write_text(text)
    with pytest.raises(PinError, match=words):
        store.read(str(path))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("2.15", "2.15"),
        ("2.0", "1.15"),
        ("2.1", "2.2"),
        ("2.16", "2.15"),
        ("2.30", "2.21"),
        ("2.9", "2.15"),
        ("2.8", "2.2"),
        ("1.13", "1.15"),
        ("2.18", "2.15"),
        ("none", "1.15"),
    ],
)
def test_nearest_release(wanted, found):
    assert store.nearest_release(["2.21", "2.15", "2.2", "1.15"], wanted) == found


def test_releases_are_in_order():
    ordered = ["none", "1.13", "1.15", "2.0", "2.2", "2.10", "2.21", "3.0"]
    assert sorted([*reversed(ordered)], key=store.release_order) == ordered
    assert store.release_order("2.0") - store.release_order("1.15") == 1
