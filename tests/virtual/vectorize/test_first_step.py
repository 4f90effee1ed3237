"""What a first step costs: ops that are made, counted; and that they compute the same."""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual.harness import MEAN, SUM, called, distributed, graph, make, results, traced
from tpudist.tfcompat import versions

pytestmark = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 replicas are traced one by one"
)


def types(function):
    """The op types of what all replicas do at once."""
    return [
        node.op
        for each in called(function)
        if "replicas_segment" in each.signature.name
        for node in each.node_def
    ]


def slices_of_a_table(cores):
    strategy = make(cores)
    with strategy.scope():
        table = tf.Variable(tf.zeros([5, 2]))

    def replica(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, ids) * 3.0)
        gradient = tape.gradient(loss, table)
        assert isinstance(gradient, tf.IndexedSlices)
        total = tf.distribute.get_replica_context().all_reduce(SUM, gradient)
        return tf.convert_to_tensor(total)

    ids = np.random.RandomState(0).randint(5, size=(cores, 3)).astype(np.int32)
    function, inputs = traced(strategy, replica, ids)
    expected = np.repeat(3.0 * np.bincount(ids.reshape([-1]), minlength=5)[:, None], 2, 1)
    for outputs in results(strategy, function, inputs):
        np.testing.assert_array_equal(outputs, expected)
    return sum(len(each.node_def) + len(each.signature.input_arg) for each in called(function))


def test_slices_of_a_table_are_reduced_as_one_tensor():
    """The functions of a step do not grow with the number of replicas."""
    assert slices_of_a_table(2) == slices_of_a_table(8)


def test_values_are_reshaped_once():
    """Moments: the rows are reshaped once, and what is made of them never."""

    def replica(x):
        difference = tf.square(x - tf.reduce_mean(x, 0, keepdims=True))
        return tf.reduce_mean(tf.reshape(tf.reshape(difference, [2, 2, 3]), [4, 3]), 0)

    values = np.random.RandomState(0).uniform(0.1, 0.9, (4, 4, 3)).astype(np.float32)
    strategy = make(4)
    function, inputs = traced(strategy, replica, values)
    assert types(function).count("Reshape") == 1  # of the rows: vectors leave as they are
    for outputs, own in zip(results(strategy, function, inputs), values):
        np.testing.assert_allclose(outputs, own.var(0), rtol=1e-5)


def test_unused_constants_are_not_added():
    """Of the axes, shapes and bounds those that rules change are made once, changed."""

    def replica(x):
        return tf.transpose(tf.tile(x, [1, 2]), [1, 0])[1:]

    values = np.arange(24, dtype=np.float32).reshape([4, 2, 3])
    strategy = make(4)
    function, inputs = traced(strategy, replica, values)
    segment = next(each for each in called(function) if "replicas_segment" in each.signature.name)
    taken = {name.split(":")[0] for node in segment.node_def for name in node.input}
    made = {node.name for node in segment.node_def if node.op == "Const"}
    assert made and made <= taken
    for outputs, own in zip(results(strategy, function, inputs), values):
        np.testing.assert_array_equal(outputs, np.tile(own, [1, 2]).T[1:])


def test_a_per_replica_number_is_reshaped():
    """It is held by one tensor per replica, as no rule knows what it is computed from."""

    def replica(x):
        chosen = tf.reduce_sum(tf.boolean_mask(x, x > 2.0))
        return tf.reshape(chosen, [1, 1]) + tf.reshape(x, [1, -1])

    values = np.random.RandomState(0).uniform(0.0, 4.0, (4, 6)).astype(np.float32)
    strategy = make(4)
    for outputs, own in zip(results(strategy, *traced(strategy, replica, values)), values):
        np.testing.assert_allclose(outputs, own[own > 2.0].sum() + own[None], rtol=1e-6)


def test_the_copies_of_a_split_variable_have_names_and_values_of_their_own():
    strategy = make(4)
    with strategy.scope():
        variable = tf.Variable(1.0, name="average", trainable=False)

    def replica(x):
        return variable.assign_add(x)

    values = np.arange(4, dtype=np.float32)
    function, inputs = traced(strategy, replica, values)
    function(inputs)
    parts = strategy.experimental_local_results(variable)
    names = ["average:0"] + ["average/replica_%d:0" % i for i in range(1, 4)]
    assert [part.name for part in parts] == names
    assert [float(part) for part in parts] == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.slow
@pytest.mark.parametrize(("cores", "inlined"), [(2, True), (32, False)])
def test_functions_of_many_loops_are_optimised_once(cores, inlined):
    """Loops that are done once per replica stay calls, where there are many of them."""
    strategy = make(cores)

    def part(x, i):  # a division may fail for a replica that has left the loop
        return tf.gather(x, [i]) * tf.cast(6 // (i + 4), tf.float32)

    def replica(x):
        return tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, tf.concat([y[1:], part(x, i) + tf.tanh(y[:1])], 0)),
            (tf.cast(x[0], tf.int32), x),
        )[1]

    values = np.random.RandomState(0).uniform(0.0, 3.0, (cores, 4)).astype(np.float32)
    function, inputs = traced(strategy, replica, values)
    loops = [
        node
        for each in called(function)
        for node in each.node_def
        if node.op == "StatelessWhile" and "replicas_segment" in each.signature.name
    ]
    assert len(loops) == cores
    assert {node.attr["_lower_using_switch_merge"].b for node in loops} == {inlined}
    for outputs, own in zip(results(strategy, function, inputs), values):
        np.testing.assert_allclose(outputs, tf.function(replica)(tf.constant(own)), rtol=1e-6)


@pytest.mark.parametrize("operation", [SUM, MEAN])
def test_uneven_batches_are_reduced_as_one(operation):
    """A sum along the batch takes as many ops for many replicas as for few."""

    def ops(cores):
        strategy = make(cores)
        sizes = [1 + i % 3 for i in range(cores)]
        rows = np.arange(2.0 * sum(sizes), dtype=np.float32).reshape([-1, 2])
        parts = np.split(rows, np.cumsum(sizes)[:-1])

        @graph
        def reduced(value):
            return strategy.reduce(operation, value, axis=0)

        value = distributed(strategy, parts)
        expected = rows.sum(0) if operation == SUM else rows.mean(0)
        np.testing.assert_allclose(reduced(value), expected, rtol=1e-6)
        made = reduced.get_concrete_function(value).graph.get_operations()
        return sum(op.type in ("Sum", "Add", "AddV2", "Mean") for op in made)

    assert ops(2) == ops(16)


def edges_of_effects(cores):
    """How many inputs the ops of a step have in which each replica has effects of its own."""
    strategy = make(cores)
    with strategy.scope():
        own = tf.Variable(
            [1.0, 2.0],
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            trainable=False,
        )

    def replica(x):
        for _ in range(2):
            tf.cond(x[0] > 5.0, lambda: own.assign_add(x), lambda: own.assign_sub(x))
        return own.read_value()

    values = np.arange(2 * cores, dtype=np.float32).reshape([cores, 2])
    function, inputs = traced(strategy, replica, values)
    outputs = sum(len(node.input) for each in called(function) for node in each.node_def)
    expected = [[1.0, 2.0] + np.where(x[0] > 5.0, 2.0, -2.0) * x for x in values]
    np.testing.assert_allclose(results(strategy, function, inputs), expected)
    return outputs


def test_control_edges_grow_linearly_with_the_replicas():
    """Each of many ops that waits for as many others waits for one op, which waits for them."""
    assert edges_of_effects(16) <= 4 * edges_of_effects(4)
