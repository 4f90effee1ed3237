"""Programs give on a surface what they gave on their era's own TensorFlow."""

import importlib
import json
import os

import numpy as np
import pytest
import tensorflow as tf

from compat.record import native, record
from tpudist.system import cluster
from tpudist.tfcompat import versions

#: {era of a program: (surface, arguments of its TPUStrategy)}
SURFACES = {
    "contrib": ("contrib", {"steps_per_run": 1}),
    "contrib_1_15": ("contrib", {"steps_per_run": 1}),
    "v2_0": ("v2_0", {}),
    "v2_2": ("v2_2", {}),
}


def recorded(program):
    """The record of a program."""
    path = os.path.join(record.HERE, "recorded", program + ".json")
    with open(path) as file:
        return json.load(file)


def replayed(program, era):
    """What the program shows on the surface of its era, virtual cores."""
    surface, arguments = SURFACES[era]
    dropin = importlib.import_module("tpudist.%s.tensorflow" % surface)
    classes = importlib.import_module("tpudist.%s" % surface)
    strategy_class = classes.distribute.TPUStrategy if surface == "contrib" else classes.TPUStrategy

    def show(run):
        strategy = strategy_class(
            cluster.TPUClusterResolver("virtual:%d" % native.CORES), **arguments
        )
        return record.output(record.load(program), dropin, strategy, run)

    if record.ORACLES[era][2]:
        return record.in_session(tf, show)
    return show(record.numpy_of)


@pytest.mark.parametrize("program", record.names())
def test_a_surface_gives_what_its_era_gave(program):
    expected = recorded(program)
    era = record.load(program).ERA
    if getattr(record.load(program), "KERAS", False) and versions.HAS_COMPAT_V2:
        pytest.skip("Keras of 1.14 and newer refuses it here; tests/programs runs it")
    if not record.ORACLES[era][2] and not tf.executing_eagerly():
        pytest.skip("TensorFlow 1 has no eager mode by default")
    found = replayed(program, era)
    print("recorded on TensorFlow %(tensorflow)s, Python %(python)s, %(date)s" % expected)
    assert [what for what, _ in found] == [what for what, _ in expected["output"]]
    for (what, value), (_, wanted) in zip(found, expected["output"]):
        _compare(value, wanted, what)


def _compare(found, expected, what):
    found_leaves, leaves = _flat(found), _flat(expected)
    assert len(found_leaves) == len(leaves), (what, found, expected)
    np.testing.assert_allclose(found_leaves, leaves, 2e-5, 1e-6, err_msg=what)


def _flat(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _flat(value[key])]
    if isinstance(value, list):
        return [leaf for part in value for leaf in _flat(part)]
    return [value]


def test_every_program_is_recorded_on_its_own_release():
    for program in record.names():
        found, era = recorded(program), record.load(program).ERA
        assert found["tensorflow"].startswith(record.ORACLES[era][0] + ".")
        assert found["replicas"] == native.CORES
