"""What the infeed does not take of an input function is told, with the line that trains."""

import numpy as np
import pytest
import tensorflow as tf

import tpudist
from tests.estimator import harness
from tpudist import machine
from tpudist.errors import CompileError


@pytest.fixture
def told(monkeypatch):
    """A function that returns why each cause was told since the test began."""
    from tpudist.virtual.tpu_check import reports

    monkeypatch.setenv(machine.TPU_CHECK, "warn")
    monkeypatch.setattr(reports, "_reported", {})
    return lambda: [(each.place, each.why) for each in tpudist.tpu_refusals()]


def input_of(dtype):
    """Returns an input function, of which one feature beside those of the model has the dtype."""

    def input_fn(params):
        dataset = harness.input_fn(params)
        extra = tf.constant(np.ones([params["batch_size"]]).astype(dtype))
        return dataset.map(lambda x, y: ({"x": x, "extra": extra}, y))

    return input_fn


def model_fn(features, labels, mode, params):
    return harness.model_fn(features["x"], labels, mode, params)


def train(folder, dtype):
    harness.estimator(folder, model_fn, per_loop=1).train(input_of(dtype), max_steps=1)


@pytest.mark.parametrize("dtype", ["str", "float64", "float16"])
def test_a_dtype_that_the_infeed_refuses_is_told(tmp_path, told, dtype):
    train(tmp_path, dtype)
    ((place, why),) = told()
    assert place == "%s:%d" % (__file__, train.__code__.co_firstlineno + 1)
    name = "string" if dtype == "str" else dtype
    assert why == "the infeed of a TPU takes no " + name


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_a_dtype_that_it_takes_is_not_told(tmp_path, told, dtype):
    train(tmp_path, dtype)
    assert told() == []


def test_it_ends_the_program_if_that_is_asked_for(tmp_path, told, monkeypatch):
    monkeypatch.setenv(machine.TPU_CHECK, "error")
    with pytest.raises(CompileError, match="takes no float64"):
        train(tmp_path, "float64")
