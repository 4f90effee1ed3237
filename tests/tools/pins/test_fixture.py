"""The fixture's class by itself: its modes, its log, its record."""

import json

import pytest

from tpudist.errors import PinError
from tpudist.tools.pins import fixture, store


@pytest.fixture
def pin(tmp_path, monkeypatch):
    """Makes a `Pin` of a test of choice; ``pin.release`` is the release it sees."""

    def make(mode=None, ci=False, test="test_it"):
        monkeypatch.setattr(store, "current_release", lambda: make.release)
        return fixture.Pin(make.path, "tests/test_x.py::" + test, mode, ci)

    make.release, make.path = "2.15", str(tmp_path / "test_x.pins.json")
    return make


def log(made):
    return {what: sorted(each) for what, each in made.log.items() if each}


def test_what_was_done_is_logged(pin):
    made = pin()
    made.check("a", 1)
    made.check("b", 2)
    assert log(made) == {"checked": ["a", "b"], "recorded": ["a", "b"]}
    made = pin(fixture.UPDATE)
    made.check("a", 1)
    made.check("b", 3)
    assert log(made) == {"checked": ["a", "b"], "updated": ["b"]}
    made = pin(fixture.RECORD)
    made.check("a", 1)
    assert log(made) == {"checked": ["a"], "recorded": ["a"]}


def test_the_log_is_what_xdist_can_carry(pin):
    made = pin()
    made.check("a", 1)
    assert type(made.log) is dict and {type(each) for each in made.log.values()} == {list}
    assert json.loads(json.dumps(made.log)) == made.log


@pytest.mark.parametrize("mode", [None, fixture.UPDATE])
def test_a_new_release_that_agrees_is_not_recorded(pin, mode):
    pin().check("a", 1.0)
    pin.release = "2.16"
    pin(mode).check("a", 1.0)
    assert list(store.read(pin.path)["test_it"]["a"].on) == ["2.15"]


@pytest.mark.parametrize("mode", [fixture.UPDATE, fixture.RECORD])
def test_under_ci_only_an_explicit_wish_records(pin, mode):
    with pytest.raises(PinError, match="CI is set"):
        pin(ci=True).check("a", 1.0)
    pin(mode, ci=True).check("a", 1.0)
    pin(ci=True).check("a", 1.0)


def test_a_changed_kind_forgets_the_other_releases(pin):
    pin().check("a", [1.0])
    pin.release = "2.16"
    pin(fixture.UPDATE).check_structure("a", [1.0])
    entry = store.read(pin.path)["test_it"]["a"]
    assert entry.kind == "structure" and entry.on == {"2.16": ["float"]}


def test_tolerances_are_those_of_the_test(pin):
    pin().check("a", 100.0, rtol=0.5)
    assert store.read(pin.path)["test_it"]["a"].rtol == 0.5
    pin().check("a", 140.0, rtol=0.5)
    with pytest.raises(PinError, match="rtol=0.1, atol=1e-08"):
        pin().check("a", 140.0, rtol=0.1)


def test_the_tolerance_of_a_tpus_numbers(pin, monkeypatch):
    pin().check("a", 1.0)
    monkeypatch.setenv("TPUDIST_TPU_NUMBERS", "1")
    pin().check("a", 1.003)
    with pytest.raises(PinError, match="rtol=0.00390625"):
        pin().check("a", 1.005)


def test_an_error_has_three_parts_and_is_an_assertion(pin):
    pin().check("a", 1.0)
    with pytest.raises(AssertionError) as caught:
        pin(test="test_it").check("a", 2.0)
    error = caught.value
    assert isinstance(error, PinError) and "differs on TensorFlow 2.15" in error.seen
    assert error.why and error.instead.startswith("pytest tests/test_x.py::test_it --pins-update")
    assert str(error).splitlines()[-1].strip().startswith("Instead: ")


def test_the_command_is_quoted_for_a_shell(pin):
    pin(test="test_it[a b]").check("a", 1.0)
    with pytest.raises(PinError) as caught:
        pin(test="test_it[a b]").check("a", 2.0)
    assert "pytest 'tests/test_x.py::test_it[a b]' --pins-update" in caught.value.instead


@pytest.mark.parametrize(
    ("value", "is_ci"),
    [
        (None, False),
        ("", False),
        ("0", False),
        ("False", False),
        ("1", True),
        ("true", True),
        ("woodpecker", True),
    ],
)
def test_in_ci(value, is_ci):
    assert fixture.in_ci({} if value is None else {"CI": value}) == is_ci


def test_the_release_of_this_process():
    found = store.current_release()
    assert found == store.NO_TENSORFLOW or store.release_order(found) >= store.release_order("1.15")
