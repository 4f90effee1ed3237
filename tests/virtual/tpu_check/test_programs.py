"""Small programs: what is told of each is what a TPU refuses, and nothing is told of the others."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

import tpudist
from tests.helpers.generations import second_generation
from tests.virtual import harness
from tpudist import machine
from tpudist.errors import CompileError
from tpudist.tfcompat import versions
from tpudist.virtual.tpu_check import reports

TABLE = pathlib.Path(__file__).with_name("programs.txt").read_text("utf-8").splitlines()

#: [(types of ops of which one is told, or "ok", all with a bar between; the program)]
ROWS = [line.split(" ", 1) for line in TABLE if not line.startswith("#")]

#: TensorFlow has no TPU kernels of that dtype (kTpuAllTypes of tpu_defs.h), and lowers it for CPUs.
DIFFERS = ["tf.math.abs(tf.cast(x, tf.complex128))"]


def replica(expression):
    """The replica function that evaluates an expression of the table."""

    def printed(value):
        tf.print(value)
        return value

    def evaluated(x):
        def gradient(function):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            return tape.gradient(y, x)

        names = dict(tf=tf, np=np, x=x, gradient=gradient, printed=printed)
        names.update(m=tf.reshape(x, [2, 2]), n=tf.cast(x[0], tf.int32))
        names.update(z=tf.reshape(tf.tile(x, [4]), [1, 4, 4, 1]), s=tf.strings.as_string(x))
        return eval(expression, names)

    return evaluated


@pytest.fixture(scope="module")
def strategy():
    """One strategy for all programs."""
    return harness.make(2)


@pytest.mark.parametrize(("told", "expression"), ROWS, ids=[row[1] for row in ROWS])
def test_what_a_tpu_refuses_is_told(told, expression, strategy, monkeypatch):
    monkeypatch.setenv(machine.TPU_CHECK, "warn")
    monkeypatch.setattr(reports, "_reported", {})
    function = harness.graph(lambda x: strategy.run(replica(expression), args=(x,)))
    try:
        function.get_concrete_function(tf.TensorSpec([4], tf.float32))
    except (AttributeError, TypeError, ValueError) as error:
        pytest.skip("this TensorFlow has no such function: %s" % error)
    found = {kind for cause in tpudist.tpu_refusals() for kind in cause.op_types}
    assert found.intersection(told.split("|")) or (not found and "ok" in told.split("|")), found


def test_there_are_as_many_of_each_kind():
    kinds = [told == "ok" for told, _ in ROWS]
    assert min(kinds.count(True), kinds.count(False)) >= 100


@second_generation
@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.skipif(not versions.LOWERS_TO_HLO, reason="values are compiled in before 2.12")
@pytest.mark.parametrize(("told", "expression"), ROWS, ids=[row[1] for row in ROWS])
def test_the_compiler_agrees(told, expression, strategy, monkeypatch):
    pytest.importorskip("libtpu")
    from tpudist.tools.compile.lowering import refusals

    monkeypatch.setattr(refusals, "refuse_unsupported", lambda graph: None)
    monkeypatch.setenv(machine.TPU_CHECK, "off")
    arguments = [tf.TensorSpec([4], tf.float32)]
    try:
        taken = tpudist.compile_step(strategy, replica(expression), arguments, fast=True).ok
    except CompileError:
        taken = False
    assert taken == ("ok" in told.split("|") or expression in DIFFERS)
