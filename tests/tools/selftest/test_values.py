"""The self-test's records against numpy, and its workers on other numbers of cores."""

import time

import numpy as np
import pytest

from tpudist import surfaces
from tpudist.tools import selftest
from tpudist.tools.selftest import report
from tpudist.tools.selftest.programs import RATE, ROWS, STEPS, rows, rows_of_each_host, weights

#: A TPU for each surface: of other numbers of cores and hosts than the one of the records.
TPUS = ("virtual:v3-32", "virtual:2", "virtual:v4-32")


def as_bfloat16(array):
    """float64 of the nearest bfloat16."""
    bits = np.asarray(array, np.float32).view(np.uint32)
    rounded = (bits + ((bits >> 16) & 1) + 0x7FFF) & 0xFFFF0000
    return rounded.astype(np.uint32).view(np.float32).astype(np.float64)


def trained(read=lambda array: array, rate=RATE, data=rows):
    """(losses, hidden weights, weights) of the training program, by numpy in float64.

    Args:
      data: gives features and labels.
      read: what a product reads of its factors.
      rate: of learning.
    """

    def product(left, right):
        return read(left) @ read(right)

    x, y = (each.astype(np.float64) for each in data())
    hidden, out = (each.astype(np.float64) for each in weights())
    losses = []
    for _ in range(STEPS):
        inner = np.tanh(product(x, hidden))
        error = product(inner, out) - y
        losses.append((error**2).mean())
        back = 2 * error / ROWS
        before = product(back, out.T) * (1 - inner**2)
        hidden, out = hidden - rate * product(x.T, before), out - rate * product(inner.T, back)
    return losses, hidden, out


def agrees(found):
    """Whether a real TPU that gave this would pass."""
    names = ("losses", "hidden weights", "weights")
    lines = [
        dict(
            era="v2_2",
            program="training",
            value=name,
            dtype="float32",
            shape=list(np.shape(each)),
            values=np.ravel(each).tolist(),
        )
        for name, each in zip(names, found)
    ]
    recorded = report.records()
    return all(report.compared(line, recorded, virtual=False)["agrees"] for line in lines)


def test_products_in_bfloat16_agree_and_wrong_training_does_not():
    assert agrees(trained()) and agrees(trained(as_bfloat16))
    for wrong in (0.9, 1.1, 8, 1 / 8):
        assert not agrees(trained(as_bfloat16, RATE * wrong))


def value(era, program, name):
    record = report.records()[era][program][name]
    return np.array(record["values"]).reshape(record["shape"])


def test_records_of_training_are_numpys():
    losses, hidden, out = trained()
    for era in ("v2_0", "v2_2"):
        np.testing.assert_allclose(value(era, "training", "losses"), losses, rtol=1e-4)
        np.testing.assert_allclose(value(era, "training", "hidden weights"), hidden, atol=1e-5)
        np.testing.assert_allclose(value(era, "training", "weights"), out, atol=1e-5)
    steps = "training steps"
    losses, hidden, out = trained(data=rows_of_each_host)
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
    sums, squares = "sums over a dataset", rows_of_each_host()[0].astype(np.float64) ** 2
    np.testing.assert_allclose(value("contrib", sums, "squares of a step"), squares.sum(), 1e-5)
    assert value("contrib", sums, "rows of a step") == ROWS


def test_every_truth_that_is_recorded_is_true():
    assert [
        (era, program, name)
        for era, programs in report.records().items()
        for program, values in programs.items()
        for name, record in values.items()
        if record["dtype"] == "bool" and record["values"] != [True]
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("era", "tpu"),
    [
        pytest.param(*pair, marks=() if pair[0] == "contrib" else pytest.mark.proof)
        for pair in zip(surfaces.ERAS, TPUS)
    ],
)
def test_workers_agree_on_other_numbers_of_cores(era, tpu):
    if era != "contrib":
        pytest.importorskip("tensorflow", minversion="1.14", reason="1.13 has no tf.function")
    said = [dict(each, era=era) for each in selftest.one_surface(era, tpu, 280)]
    made = report.made(tpu, said, time.monotonic())
    assert made["ok"], report.text(made, "")
    assert {each["program"] for each in made["values"]} == set(report.records()[era])
