"""Replica functions that run are recorded, once for each shape, and nobody is left to record."""

import re

import pytest
import tensorflow as tf

from tests.tools.compile import harness
from tpudist.tools.compile.lowering import recording
from tpudist.virtual.replicas import replicate

pytestmark = harness.lowers_here


def test_functions_are_recorded_as_they_run():
    strategy = harness.strategy()
    with strategy.scope():
        weight = tf.Variable(tf.ones([3]), aggregation=tf.VariableAggregation.MEAN)

    def replica(x):
        weight.assign_add(x[0])
        return tf.reduce_sum(x * weight)

    step = tf.function(lambda x: strategy.run(replica, args=(x,)))
    with recording.Recorder() as recorder:
        for rows in (2, 2, 4):
            step(tf.ones([rows, 3]))
    assert weight.numpy().tolist() == [4.0, 4.0, 4.0]
    names = [each.name for each in recorder.programs()]
    assert len(names) == 2 and all(
        re.match(r"replica \(.*test_recording.py:\d+\)$", name) for name in names
    )
    assert not replicate.observers


def test_a_function_that_cannot_be_traced_raises():
    def replica(x):
        raise KeyError("weights")

    with recording.Recorder() as recorder, pytest.raises(Exception, match="weights"):
        tf.function(lambda x: harness.strategy().run(replica, args=(x,)))(tf.ones([2]))
    assert recorder.programs() == [] and not replicate.observers
