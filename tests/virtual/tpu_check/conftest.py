"""The check is on in these tests, and has told nothing yet."""

import pytest

import tpudist
from tests.helpers import v2_behavior  # noqa: F401 (it switches)
from tests.virtual import harness
from tpudist import machine


@pytest.fixture
def strategy():
    """A strategy on a few virtual cores, another one for each test."""
    return harness.make()


@pytest.fixture
def lines(monkeypatch, capfd):
    """A function that returns what was told since the test began, a list of lines."""
    from tpudist.virtual.tpu_check import reports

    monkeypatch.setenv(machine.TPU_CHECK, "warn")
    monkeypatch.setattr(reports, "_reported", {})

    told = []

    def all_told():
        err = capfd.readouterr().err.splitlines()
        told.extend(line for line in err if "; " in line and line.count(": ") > 1)
        assert told == [str(cause) for cause in tpudist.tpu_refusals()]
        return told

    return all_told
