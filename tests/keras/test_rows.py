"""Every example once, in order where rows come back, whatever the model and its data.

The table of ``row_cases``: each way to a distributed model, each model and each kind of cores is a
process of its own, of that era's Keras. What an era refused is refused in words that say what to
type; a cell of the table that is neither equal to one device nor expected here fails.
"""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from tests import ROOT
from tests.keras import row_cases
from tpudist import machine
from tpudist.tfcompat import versions

pytestmark = pytest.mark.skipif(
    versions.KERAS_3 and importlib.util.find_spec("tf_keras") is None, reason="no Keras 2"
)

#: Every way with one model and one kind of cores; the rest of the table takes hours.
SOME = [
    ("distribute", "functional", "virtual:2"),
    ("distribute", "sequential", "cpus:2"),
    ("contrib", "sequential", "virtual:8"),
    ("tpu_model", "functional", "virtual:2"),
    ("v2_0", "subclassed", "cpus:2"),
    ("v2_2", "functional", "virtual:8"),
]
REST = [
    (way, model, tpu)
    for way in row_cases.WAYS
    for model in row_cases.MODELS
    for tpu in ("virtual:2", "virtual:8", "cpus:2")
    if (way, model, tpu) not in SOME
]


def table(way, model, tpu, *chosen):
    """{cell: verdict}, of a process."""
    environ = dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3")
    environ[machine.LEGACY_KERAS] = "1"
    command = [sys.executable, "-m", "tests.keras.row_cases", way, model, tpu, *chosen]
    done = subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.split("RESULT")[1])


def is_refused(way, model, cell):
    """Whether Keras of the way's era took no such call under a strategy."""
    if way in row_cases.GRAPHS and model == "subclassed":  # It copies a model by its layers.
        return True
    verb, kind, element, steps, rows = cell.split()
    if way == "tpu_model":
        if kind == "generator" and steps == "none":
            return True
        of_dataset = kind in ("dropped", "batched", "unknown")
        return of_dataset and verb != "predict" or rows == "uneven" and kind != "dropped"
    if way in row_cases.GRAPHS:
        if kind == "generator" or element == "xyw" and verb != "predict":
            return True
        if kind == "unknown":
            return steps == "none" or verb == "predict"
        if kind == "numpy":
            return steps == "more"
        return steps == "more" and way == "contrib"
    if versions.TF2 or kind != "numpy":
        return False
    return steps == "more" or verb == "fit" and rows == "uneven"


def is_left_out(way, model, cell):
    """Whether Keras builds the model eagerly, which a TPU refuses; later its layers fail."""
    return way not in row_cases.GRAPHS and model == "subclassed" and " generator " in cell


def wrong(way, model, found):
    """The cells that are not as they have to be."""
    expected = {True: ("refused", "as one device"), False: ("equal",)}
    return {
        cell: said
        for cell, said in found.items()
        if said not in expected[is_refused(way, model, cell)] and not is_left_out(way, model, cell)
    }


def check(way, model, tpu, *chosen):
    found = table(way, model, tpu, *chosen)
    assert found
    found = wrong(way, model, found)
    assert not found, json.dumps(found, indent=1)


def test_rows_that_are_predicted_of_a_compiled_strategy():
    check("distribute", "functional", "virtual:2", "predict", "batched")


def test_a_subclassed_model_of_a_compiled_strategy_is_refused():
    found = table("distribute", "subclassed", "virtual:2", "predict", "batched", "numpy")
    assert set(found.values()) == {"refused"}


@pytest.mark.slow
@pytest.mark.parametrize(("way", "model", "tpu"), SOME)
def test_each_way(way, model, tpu):
    check(way, model, tpu)


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize(("way", "model", "tpu"), REST)
def test_whole_table(way, model, tpu):
    check(way, model, tpu)
