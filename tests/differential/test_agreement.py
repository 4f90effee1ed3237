"""Random programs do the same on the virtual TPU and on MirroredStrategy.

TPUDIST_EXAMPLES sets how many programs, which are always the same; `python -m
tests.differential` draws others, and `python -m tests.differential.driver` runs one
mode by hand, with a seed or a program.
"""

import os

import numpy as np
import pytest
import tensorflow as tf

from tests.differential import driver, engines, tensor_ops
from tests.differential.__main__ import SHARES
from tests.differential.processes import run_driver
from tpudist.tfcompat import versions

EXAMPLES = os.environ.get("TPUDIST_EXAMPLES", "10")
SEEN = [
    ("run", ((np.float32(1.0), np.float32(2.0)), np.float32(6.0))),
    ("state", [{"parts": [np.float32(1.0)], "read": "cannot"}]),
]


@pytest.mark.slow
def test_the_engines_agree():
    """On the first share; CI runs all of them, by ``python -m tests.differential``."""
    share = SHARES[0]
    done = run_driver(
        *["--mode", share.mode, "--replicas", str(share.replicas), "--surface", share.surface],
        *["--examples", EXAMPLES],
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "programs agree" in done.stdout


def _changed(step, value):
    return SEEN[:step] + [(SEEN[step][0], value)] + SEEN[step + 1 :]


@pytest.mark.parametrize(
    ("seen", "error"),
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


def test_every_program_of_a_run_is_in_a_share():
    assert sum(share.part for share in SHARES) == pytest.approx(1.0)
    assert {share.surface for share in SHARES} == set(engines.SURFACES)


@pytest.mark.parametrize("layer", sorted(tensor_ops.LAYERS))
def test_every_layer_can_be_called(layer):
    if versions.TF2:
        made = tensor_ops.built(layer)
        assert tensor_ops.LAYERS[layer][1](made, tf.ones([2, 3])).shape.rank


@pytest.mark.parametrize("op", sorted(tensor_ops.OPS))
def test_every_op_gives_a_matrix(op):
    with tf.Graph().as_default():
        assert tensor_ops.OPS[op](tf.ones([2, 3])).shape.as_list() == [2, 3]
