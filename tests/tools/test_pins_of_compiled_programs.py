"""Pins of what a program compiles to."""

import json

import pytest

from tests.tools.compile import records
from tpudist.errors import PinError
from tpudist.tools.pins import agreement, fixture, store


@pytest.fixture
def pin(tmp_path, monkeypatch):
    """Makes a `Pin` of one test; ``pin.release`` is the TensorFlow release it sees."""

    def make(mode=None):
        monkeypatch.setattr(store, "current_release", lambda: make.release)
        return fixture.Pin(str(tmp_path / "test_x.pins.json"), "test_x.py::test", mode)

    make.release, make.path = "2.21", tmp_path / "test_x.pins.json"
    return make


def with_memory(factor):
    memory = {key: int(factor * size) for key, size in records.answer()["memory"].items()}
    return records.summarized(records.answer(memory=memory))


def test_the_same_agrees_and_is_recorded_once(pin):
    for _ in range(2):
        made = pin()
        made.check_compiled(records.a_report())
    assert made.log == {"checked": ["compiled"], "recorded": [], "updated": []}
    entry = json.loads(pin.path.read_text())["pins"]["test"]["compiled"]
    assert (entry["kind"], entry["rtol"]) == ("compiled", 0.05)
    assert entry["on"]["2.21"]["HBM"] == records.a_report().memory.total


def test_a_tenth_more_memory_fails_with_a_diff(pin):
    pin().check_compiled(records.a_report())
    pin().check_compiled(with_memory(1.04))
    with pytest.raises(PinError, match=r"HBM.* +12288 +13\d\d\d") as caught:
        pin().check_compiled(with_memory(1.1))
    assert "rtol=0.05" in str(caught.value) and "--pins-update" in str(caught.value)
    pin().check_compiled(with_memory(1.1), rtol=0.2)


def test_one_collective_more_fails(pin):
    pin().check_compiled(records.a_report())
    twice = records.optimized(*records.COMPILED, records.COMPILED[-1])
    more = records.summarized(records.answer(optimized=twice))
    with pytest.raises(PinError, match=r"'collectives'\]\['all-reduce'\] +1 +2 "):
        pin().check_compiled(more)
    pin(fixture.UPDATE).check_compiled(more)
    pin().check_compiled(more)


def test_another_libtpu_alone_is_no_difference(pin):
    pin().check_compiled(records.a_report())
    made = records.a_report()
    pin().check_compiled(made._replace(versions=made.versions._replace(libtpu="0.0.99")))


def test_what_does_not_compile_fails(pin):
    with pytest.raises(PinError, match="does not compile for v5e:2x4: E1000"):
        pin().check_compiled(records.summarized(records.failed()))
    assert not pin.path.exists()


def test_reports_hold_releases_against_each_other_likewise(pin):
    pin().check_compiled(records.a_report())
    pin.release = "2.22"
    made = records.a_report()
    pin(fixture.RECORD).check_compiled(
        made._replace(versions=made.versions._replace(libtpu="0.0.99"))
    )
    assert agreement.differing(agreement.read([str(pin.path)])) == []
    pin(fixture.RECORD).check_compiled(with_memory(1.1))
    assert len(agreement.differing(agreement.read([str(pin.path)]))) == 1
