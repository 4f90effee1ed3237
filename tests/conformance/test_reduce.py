"""`reduce` over replicas, and over a batch dimension."""

import inspect
import re

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.modes import MEAN, SUM, covers, number, per_replica
from tpudist.errors import ArgumentError, CollectiveError
from tpudist.tfcompat import versions

ROWS = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]


@covers("reduce")
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize(
    ("operation", "numpy_operation"), [(SUM, np.sum), (MEAN, np.mean)], ids=["SUM", "MEAN"]
)
def test_reduce(surface, mode, strategy, operation, numpy_operation, axis):
    found = mode.evaluate(
        lambda: strategy.reduce(operation, per_replica(surface, strategy, ROWS), axis=axis)
    )
    expected = numpy_operation(np.array(ROWS), axis=0 if axis is None else None)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(("name", "expected"), [("SUM", 6.0), ("MEAN", 1.5)])
def test_the_operation_may_be_a_name(surface, mode, strategy, name, expected):
    found = mode.evaluate(lambda: strategy.reduce(name, surface.run(strategy, number), axis=None))
    assert found == expected


@pytest.mark.parametrize("axis", [None, 0])
def test_the_name_of_the_operation_is_checked(surface, mode, strategy, axis):
    def build():
        value = per_replica(surface, strategy, ROWS)
        return strategy.reduce("MEDIAN", value, axis=axis)

    with pytest.raises((KeyError, ValueError), match="MEDIAN"):
        mode.evaluate(build)


@pytest.mark.parametrize(
    ("operation", "typed"), [(SUM, "tf.distribute.ReduceOp.SUM"), ("MEAN", "'MEAN'")]
)
def test_swapped_arguments_are_told(surface, mode, strategy, operation, typed):
    def build():
        return strategy.reduce(per_replica(surface, strategy, ROWS), operation, axis=None)

    instead = "Instead: strategy.reduce(%s, value, axis=None)" % typed
    with pytest.raises(ArgumentError, match=re.escape(instead)):
        mode.evaluate(build)


@pytest.mark.parametrize(("operation", "expected"), [(SUM, 15.0), (MEAN, 2.5)], ids=["SUM", "MEAN"])
def test_an_uneven_last_batch_counts_its_examples(surface, mode, strategy, operation, expected):
    """Six examples on four replicas: 2, 2, 1 and 1 of them."""

    def build():
        def fn(rows):
            first = tf.cast(tf.math.ceil(number() * 1.5), tf.int32)
            last = tf.cast(tf.math.ceil((number() + 1.0) * 1.5), tf.int32)
            return rows[first:last]

        value = surface.run(strategy, fn, tf.range(6.0))
        return strategy.reduce(operation, value, axis=0)

    assert mode.evaluate(build) == expected


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize(
    ("operation", "numpy_operation"), [(SUM, np.sum), (MEAN, np.mean)], ids=["SUM", "MEAN"]
)
def test_an_axis_from_either_end(surface, mode, strategy, operation, numpy_operation, axis):
    rows = np.arange(24.0).reshape(4, 1, 2, 3)

    def build():
        return strategy.reduce(operation, per_replica(surface, strategy, rows), axis=axis)

    expected = numpy_operation(rows, axis=(0, axis % 3 + 1))
    np.testing.assert_allclose(mode.evaluate(build), expected)


def test_a_nest_is_reduced_leaf_by_leaf(surface, mode, strategy):
    def build():
        value = surface.run(strategy, lambda: (number(), number() * 10.0))
        return strategy.reduce(SUM, value, axis=None)

    assert list(mode.evaluate(build)) == [6.0, 60.0]


def test_shapes_that_differ_need_an_axis(surface, mode, strategy):
    if versions.TRACE_ONCE and mode.eager and surface.era == "v2_0":
        pytest.skip("one trace has one shape, and 2.0 has no values function")

    def build():
        value = ragged(surface, strategy)
        return strategy.reduce(SUM, value, axis=None)

    with pytest.raises(CollectiveError):
        mode.evaluate(build)


def ragged(surface, strategy):
    """A per-replica value of 1, 2, 3 and 4 ones."""
    if surface.era == "v2_2":
        return strategy.experimental_distribute_values_from_function(
            lambda context: tf.ones([context.replica_id_in_sync_group + 1])
        )
    return surface.run(
        strategy,
        lambda: tf.ones([tf.distribute.get_replica_context().replica_id_in_sync_group + 1]),
    )


def test_the_mean_of_a_plain_value_is_the_value(mode, strategy):
    assert mode.evaluate(lambda: strategy.reduce(MEAN, tf.constant(3.0), axis=None)) == 3.0


@pytest.mark.parametrize("zero", [0, 0.0])
def test_the_sum_of_no_terms_is_zero(mode, strategy, zero):
    # A loop that adds up losses may have none. TensorFlow 2.3 and newer ask a 0 for its shape.
    assert mode.evaluate(lambda: tf.convert_to_tensor(strategy.reduce(SUM, zero, axis=None))) == 0


def test_the_sum_of_a_mirrored_variable_counts_every_replica(mode, strategy):
    with strategy.scope():
        variable = tf.Variable(2.0)
    assert mode.evaluate(lambda: strategy.reduce(SUM, variable, axis=None)) == 8.0


def test_the_error_of_a_wrong_call_names_the_class_that_users_know(strategy):
    """Of every method that tpudist defines: Python's errors say ``__qualname__``."""
    wrong = {
        each.__qualname__
        for kind in type(strategy).__mro__
        if kind.__module__.startswith(("tpudist.common", "tpudist.contrib", "tpudist.v2_"))
        for each in vars(kind).values()
        if inspect.isfunction(each) and not each.__qualname__.startswith("TPUStrategy")
    }
    assert wrong == set()
    with pytest.raises(TypeError, match="reduce.. missing 1 required"):
        strategy.reduce(SUM, 1.0)
