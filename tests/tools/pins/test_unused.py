"""Unused pins are judged only over what ran."""

import pytest

from tests.tools.pins import harness

pytest_plugins = "pytester"

BOTH = "def test_a(pin): pin.check('x', 1)\ndef test_b(pin): pin.check('y', 2)\n"
NO_X = "def test_a(pin): pass\ndef test_b(pin): pin.check('y', 2)\n"
NO_A = "def test_b(pin): pin.check('y', 2)\n"


@pytest.fixture
def module(pytester, monkeypatch):
    made = harness.Module(pytester, monkeypatch)
    made.run(BOTH)
    return made


def unused(result):
    return [line for line in result.outlines if "is unused" in line]


def test_none_is_unused(module):
    assert not unused(module.run(BOTH))


@pytest.mark.parametrize("body", [NO_X, "def test_b(pin): pin.check('y', 2)\ndef test_a(): pass\n"])
def test_a_pin_that_nothing_asked_for(module, body):
    assert unused(module.run(body)) == [
        "pins: 'x' of test_x.py::test_a is unused; pytest --pins-record drops it"
    ]
    assert "test_a" in module.pins


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        (NO_A, ["test_x.py::test_b"]),
        (NO_A, ["-k", "b"]),
        (NO_X, ["-k", "b"]),
        (NO_X, ["test_x.py::test_b"]),
        (NO_A, []),
        (NO_X.replace("pass", "assert False"), []),
        (NO_X.replace("pass", "assert False"), ["-x"]),
    ],
)
def test_what_did_not_run_is_not_judged(module, body, arguments):
    deselected = NO_A + "def test_c(): pass\n" if body == NO_A and "-k" in arguments else body
    assert not unused(module.run(deselected, *arguments))


def test_another_release_may_pin_other_things(module):
    assert not unused(module.run(NO_X, release="2.21"))


def test_record_drops_what_is_unused_on_this_release(module):
    module.run(BOTH, "--pins-record", release="2.21")
    result = module.run(NO_X, "--pins-record", release="2.21")
    assert unused(result) == ["pins: 'x' of test_x.py::test_a is unused, dropped"]
    assert module.pins["test_a"] == {"x": {"2.15": 1}}
    module.run(NO_X, "--pins-record")
    assert "test_a" not in module.pins
