"""TensorFlow's values: tensors, variables, per-replica values, and their structure."""

import collections

import numpy as np
import pytest

from tpudist.errors import PinError
from tpudist.tools.pins import values

tf = pytest.importorskip("tensorflow", reason="TensorFlow's values")
Pair = collections.namedtuple("Pair", "a b")
eager = pytest.mark.skipif(not tf.executing_eagerly(), reason="tensors have no value in a graph")


@eager
@pytest.mark.parametrize(
    ("make", "encoded"),
    [
        (lambda: tf.constant(0.1), 0.1),
        (lambda: tf.constant([1, 2], tf.int64), [1, 2]),
        (lambda: tf.constant(0.5, tf.bfloat16), 0.5),
        (lambda: tf.constant(["a", b"\xff"]), ["a", {"$bytes": "ff"}]),
        (lambda: tf.Variable([1.0, 2.0]), [1.0, 2.0]),
        (lambda: {"x": (tf.constant(True), 1)}, {"x": [True, 1]}),
        (lambda: tf.ragged.constant([[1], [2, 3]]), [[1], [2, 3]]),
        (
            lambda: tf.SparseTensor([[0, 1]], [5.0], [2, 2]),
            {"indices": [[0, 1]], "values": [5.0], "shape": [2, 2]},
        ),
        (
            lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([3])),
            {"indices": [3], "values": [1.0]},
        ),
    ],
)
def test_values(make, encoded):
    assert values.encode(make()) == encoded


def test_a_tensor_of_a_graph_is_refused():
    with tf.Graph().as_default():
        tensor = tf.compat.v1.placeholder(tf.float32, [2], "loss")
        with pytest.raises(PinError, match=r"loss.*session\.run"):
            values.encode({"a": tensor}, "loss")


def test_per_replica_results(strategy):
    @tf.function
    def step(x):
        def replica(x):
            context = tf.distribute.get_replica_context()
            return x * tf.cast(context.replica_id_in_sync_group, tf.float32)

        return strategy.experimental_run_v2(replica, args=(x,))

    result = step(tf.constant(2.0))
    assert values.encode(result) == {"$replicas": [2.0 * i for i in range(8)]}
    assert values.structure(result) == {"$replicas": ["float32[]"] * 8}


def test_variables_of_a_strategy(strategy):
    with strategy.scope():
        mirrored = tf.Variable([1.0, 2.0])
        summed = tf.Variable(
            1.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    assert values.encode(mirrored) == [1.0, 2.0] and values.encode(summed) == 8.0
    assert values.structure([mirrored, summed]) == ["float32[2]", "float32[]"]


@pytest.mark.parametrize(
    ("make", "described"),
    [
        (lambda: np.zeros((2, 3), np.int8), "int8[2, 3]"),
        (lambda: tf.zeros([4]), "float32[4]"),
        (lambda: 1, "int"),
        (lambda: None, None),
        (lambda: "text", "str"),
        (lambda: [1.0, (2, tf.zeros([]))], ["float", {"$tuple": ["int", "float32[]"]}]),
        (lambda: Pair(1, np.float32(2)), {"$Pair": {"a": "int", "b": "float32[]"}}),
        (lambda: {"b": 1, 2: [True]}, {"b": "int", "2": ["bool"]}),
        (lambda: tf.TensorSpec([None, 3], tf.float32), "float32[None, 3]"),
        (lambda: tf.TensorSpec(None, tf.int32), "int32[...]"),
    ],
)
def test_structure(make, described):
    assert values.structure(make()) == described


def test_structure_of_a_graphs_tensors():
    with tf.Graph().as_default():
        assert values.structure(tf.compat.v1.placeholder(tf.int32, [None, 2])) == "int32[None, 2]"
