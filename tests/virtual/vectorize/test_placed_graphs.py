"""Graphs that are built op by op at less cost than TensorFlow's, and calls of their functions."""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual.harness import make, traced
from tpudist.tfcompat import functions, placed_graphs, versions

pytestmark = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 replicas are traced one by one"
)

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def doubled():
    """The function of 2 x + a captured 1, and the graph of it."""
    outside = tf.constant([1.0] * 1000)
    graph = placed_graphs.PlacedGraph("doubled", CPU)
    with graph.building():
        placeholder = tf.compat.v1.placeholder(tf.float32, [1000], "x")
        first = tf.add(placeholder, placeholder, name="sum")
        with tf.control_dependencies([first.op]), tf.name_scope("in"):
            last = tf.add(first, graph.capture(outside), name="sum")
            waits = tf.constant(3.0)
    graph.inputs = [placeholder] + [inner for _, inner in functions.captures(graph)]
    graph.outputs = [last]
    return functions.make(graph, noinline=False), graph, waits, outside


def test_ops_are_on_the_device_of_the_graph():
    _, graph, _, _ = doubled()
    ops = [op for op in graph.get_operations() if op.type != "Placeholder"]
    assert ops and {op.device for op in ops} == {CPU}


def test_op_names_are_unique_in_the_open_scope():
    _, graph, _, _ = doubled()
    added = [op.name for op in graph.get_operations() if op.type in ("Add", "AddV2")]
    assert added == ["sum", "in/sum"]
    with graph.building():
        assert tf.constant(1.0, name="sum").op.name == "sum_1"


def test_ops_have_the_control_inputs_that_are_in_effect():
    _, graph, waits, _ = doubled()
    assert [op.name for op in waits.op.control_inputs] == ["sum"]


def test_a_second_call_has_a_gradient():
    function, _, _, outside = doubled()
    x = tf.constant(np.arange(1000.0, dtype=np.float32))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            once = functions.call(function, [x, outside], function.outputs)
            twice = functions.call(function, [once[0], outside], function.outputs)
        return twice[0], tape.gradient(twice[0], x)

    value, gradient = step(x)
    np.testing.assert_array_equal(value, 2 * (2 * x + 1) + 1)
    np.testing.assert_array_equal(gradient, [4.0] * 1000)


def test_a_call_is_ordered_like_tensorflows():
    """Reads of a variable that a function only reads wait for no other read, writes wait."""
    variable = tf.Variable(1.0)
    graph = placed_graphs.PlacedGraph("reads", CPU)
    with graph.building():
        placeholder = graph.capture(variable.handle)
        read = tf.raw_ops.ReadVariableOp(resource=placeholder, dtype=tf.float32)
    graph.inputs, graph.outputs = [placeholder], [read]
    reads = functions.make(graph, noinline=True)

    @tf.function
    def step():
        values = [functions.call(reads, [variable.handle], [read])[0] for _ in range(2)]
        variable.assign_add(10.0)
        return values + [functions.call(reads, [variable.handle], [read])[0]]

    ops = step.get_concrete_function().graph.get_operations()
    first, second, last = [op for op in ops if op.type == "StatefulPartitionedCall"]
    (write,) = [op for op in ops if op.type == "AssignAddVariableOp"]
    assert not first.control_inputs and not second.control_inputs
    assert {first, second} <= set(write.control_inputs)
    assert write in last.control_inputs
    assert [float(value) for value in step()] == [1.0, 1.0, 11.0]


def test_function_call_options_are_restored():
    from tensorflow.python.eager import context

    def options():
        kept = context.context().function_call_options
        return kept.executor_type, kept.config_proto_serialized

    before = options()
    with functions.unoptimised():
        assert options() != before
    assert options() == before


def test_nested_places_add_one_device_function():
    extended = make(2).extended

    @tf.function
    def step():
        graph = tf.compat.v1.get_default_graph()
        with extended.place():
            outer = len(graph._device_functions_outer_to_inner)
            with extended.place(), extended.place():
                assert len(graph._device_functions_outer_to_inner) == outer
            with tf.device("/device:TPU:1"), extended.place():
                pinned = tf.constant(1.0)
            with tf.device("/device:TPU:1"):
                label = tf.constant(1.0)
        assert (pinned.device, label.device) == (CPU, CPU)
        return pinned

    assert step() == 1.0


def test_a_tape_in_a_replica_watches_its_variables():
    strategy = make(2)
    with strategy.scope():
        variable = tf.Variable(3.0)

    def replica(x):
        with tf.GradientTape() as tape:
            loss = variable * variable * x
        return tape.gradient(loss, variable)

    function, inputs = traced(strategy, replica, np.array([1.0, 2.0], np.float32))
    gradients = strategy.experimental_local_results(function(inputs))
    assert [value.numpy() for value in gradients] == [6.0, 12.0]


LINE = 'tf.debugging.check_numerics(x, "not a number")  # here'


def checked(x):
    return tf.debugging.check_numerics(x, "not a number")  # here


@pytest.mark.skipif(not versions.OPS_TAKE_STACK_TRACES, reason="TensorFlow's lines cannot be given")
@pytest.mark.parametrize("cores", [1, 4])
def test_an_error_at_run_time_tells_the_line_of_the_replica_function(cores):
    strategy = make(cores)

    def replica(x):
        return checked(tf.math.log(x))

    @tf.function
    def step(x):  # of a lambda TensorFlow tells no lines
        return strategy.run(replica, args=(x,))

    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        step(-tf.ones([2]))
    with open(__file__) as source:
        line = [i for i, text in enumerate(source, 1) if LINE in text][-1]
    assert "line %d, in checked" % line in str(raised.value)


@pytest.mark.skipif(not versions.OPS_TAKE_STACK_TRACES, reason="TensorFlow's lines cannot be given")
def test_an_op_of_a_trace_tells_the_lines_that_made_it():
    graph = placed_graphs.LocatedGraph("located")
    with graph.as_default():
        tensor = checked(tf.compat.v1.placeholder(tf.float32, [2]))
    assert [frame.name for frame in tensor.op.traceback if frame.filename == __file__][
        -1
    ] == "checked"
    assert all(
        not frame.filename.endswith("tfcompat/placed_graphs.py") for frame in tensor.op.traceback
    )
