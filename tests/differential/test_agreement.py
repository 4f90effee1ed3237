"""Random programs do the same on the virtual TPU and on MirroredStrategy.

TPUDIST_EXAMPLES sets how many programs; `python -m tests.differential.driver`
runs one mode by hand, with a seed or a program.
"""

import os

import numpy as np
import pytest

from tests.differential import driver, engines
from tests.differential.processes import run_driver

EXAMPLES = os.environ.get("TPUDIST_EXAMPLES", "25")
SEEN = [
    ("run", ((np.float32(1.0), np.float32(2.0)), np.float32(6.0))),
    ("state", [{"parts": [np.float32(1.0)], "read": "cannot"}]),
]


@pytest.mark.parametrize("mode, replicas", [("function", 2), ("function", 4), ("graph", 2)])
def test_the_engines_agree(mode, replicas):
    done = run_driver("--mode", mode, "--replicas", str(replicas), "--examples", EXAMPLES)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "programs agree" in done.stdout


def _changed(step, value):
    return SEEN[:step] + [(SEEN[step][0], value)] + SEEN[step + 1 :]


@pytest.mark.parametrize(
    "seen, error",
    [
        (_changed(0, ((np.float32(1.0), np.float32(2.0)), np.float32(6.001))), None),
        (_changed(0, ((np.float32(1.0), np.float32(2.0)), np.int32(6))), None),
        (_changed(0, ((np.float32(1.0),), np.float32(6.0))), None),
        (_changed(1, [{"parts": [np.float32(1.0)], "read": np.float32(1.0)}]), None),
        (SEEN[:1], None),
        (SEEN, RuntimeError("here only")),
    ],
    ids=["value", "dtype", "replicas", "read", "steps", "error"],
)
def test_a_disagreement_is_found_and_shown(monkeypatch, seen, error):
    outcomes = {
        engines.oracle: engines.Outcome(SEEN, None),
        engines.virtual: engines.Outcome(seen, error),
    }
    monkeypatch.setattr(engines, "execute", lambda engine, *unused: outcomes[engine])
    with pytest.raises(driver.Disagreement, match="the program in question"):
        driver.Comparison("function", 2).check("the program in question")


def test_equal_outcomes_agree(monkeypatch):
    monkeypatch.setattr(
        engines, "execute", lambda *unused: engines.Outcome(list(SEEN), ValueError("the same kind"))
    )
    comparison = driver.Comparison("function", 2)
    comparison.check("a program")
    assert comparison.compared == 1 and not comparison.excused
