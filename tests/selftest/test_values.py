"""The self-test's records against numpy, and its workers on other numbers of cores."""

import time

import numpy as np
import pytest

from tpudist import surfaces
from tpudist.selftest import agreement, processes, report
from tpudist.selftest.programs import RATE, ROWS, STEPS, rows, weights


def trained():
    """(losses, hidden weights, weights) of the training program, by numpy in float64."""
    x, y = (each.astype(np.float64) for each in rows())
    hidden, out = (each.astype(np.float64) for each in weights())
    losses = []
    for _ in range(STEPS):
        inner = np.tanh(x @ hidden)
        error = inner @ out - y
        losses.append((error**2).mean())
        back = 2 * error / ROWS
        before = (back @ out.T) * (1 - inner**2)
        hidden, out = hidden - RATE * x.T @ before, out - RATE * inner.T @ back
    return losses, hidden, out


def value(era, program, name):
    record = agreement.records()[era][program][name]
    return np.array(record["values"]).reshape(record["shape"])


def test_records_of_training_are_numpys():
    losses, hidden, out = trained()
    for era in ("v2_0", "v2_2"):
        np.testing.assert_allclose(value(era, "training", "losses"), losses, rtol=1e-4)
        np.testing.assert_allclose(value(era, "training", "hidden weights"), hidden, atol=1e-5)
        np.testing.assert_allclose(value(era, "training", "weights"), out, atol=1e-5)
    steps = "training steps"
    np.testing.assert_allclose(value("contrib", steps, "loss of the last step"), losses[-1], 1e-4)
    np.testing.assert_allclose(value("contrib", steps, "hidden weights"), hidden, atol=1e-5)
    np.testing.assert_allclose(value("contrib", steps, "weights"), out, atol=1e-5)


def test_records_of_sums_are_numpys():
    squares = (rows()[0].astype(np.float64) ** 2).sum(0)
    for era in ("v2_0", "v2_2"):
        np.testing.assert_allclose(value(era, "reductions", "sums of squares"), squares, 1e-5)
        np.testing.assert_allclose(
            value(era, "reductions", "means of squares"), squares / ROWS, 1e-5
        )
    sums = "sums over a dataset"
    np.testing.assert_allclose(value("contrib", sums, "squares of a step"), squares.sum(), 1e-5)
    assert value("contrib", sums, "rows of a step") == ROWS


def test_every_truth_that_is_recorded_is_true():
    assert [
        (era, program, name)
        for era, programs in agreement.records().items()
        for program, values in programs.items()
        for name, record in values.items()
        if record["dtype"] == "bool" and record["values"] != [True]
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("tpu", ["virtual:2", "virtual:v3-32"])
@pytest.mark.parametrize("era", surfaces.ERAS)
def test_workers_agree_on_other_numbers_of_cores(era, tpu):
    said = [dict(each, era=era) for each in processes.one_surface(era, tpu, 280)]
    made = report.made(tpu, said, time.monotonic())
    assert made["ok"], report.text(made, "", "")
    assert {each["program"] for each in made["values"]} == set(agreement.records()[era])
