"""Programs that steps are lowered to."""

import numpy as np
import pytest
import tensorflow as tf

from tests.tools.compile import harness
from tpudist.errors import CollectiveError, CompileError

pytestmark = harness.lowers_here

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN


@pytest.fixture(scope="module")
def strategy():
    return harness.strategy()


def context():
    return tf.distribute.get_replica_context()


def line(text):
    """The line of this file that ends with a mark, as the compiler names it."""
    return harness.line(__file__, text).rstrip(": ")


def collectives(program):
    return [(each.kind, each.dtype, each.shape) for each in program.collectives]


def test_a_training_step(strategy):
    with strategy.scope():
        weight = tf.Variable(tf.ones([4, 3]), name="weight")
        bias = tf.Variable(tf.ones([3]), name="bias")
        frozen = tf.Variable(tf.ones([3]), name="frozen", trainable=False)

    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(images, weight) + bias * frozen - labels) ** 2)
        gradients = tape.gradient(loss, [weight, bias])
        gradients = context().all_reduce(MEAN, gradients)  # reduced
        weight.assign_sub(0.1 * gradients[0])
        bias.assign_sub(0.1 * gradients[1])
        return {"loss": loss, "mean": context().all_reduce(MEAN, loss)}

    program = harness.lower(strategy, step, np.zeros([16, 4], "f"), tf.zeros([16, 3]))
    assert [each.name for each in program.parameters] == [
        "images",
        "labels",
        "weight",
        "bias",
        "frozen",
    ]
    assert [each.kind for each in program.parameters] == ["argument"] * 2 + ["variable"] * 3
    assert program.parameters[2].shape == (4, 3)
    assert harness.updated(program) == ["weight", "bias"]
    assert harness.results(program) == [(), ()]
    assert collectives(program) == [
        ("all-reduce", "float32", (4, 3)),
        ("all-reduce", "float32", (3,)),
        ("all-reduce", "float32", ()),
    ]
    assert program.collectives[0].location.endswith(line("reduced"))
    assert harness.opcodes(program).count("all-reduce") == 3
    assert (program.replicas, program.partitions) == (8, 1)
    assert program.tensorflow == tf.__version__.replace("-rc", "rc")


def test_parameters_are_those_of_the_entry_computation(strategy):
    with strategy.scope():
        variable = tf.Variable(tf.ones([5], tf.float64), name="variable")
    outside = tf.constant([1, 2, 3])

    def step(unused, batch, flag):
        assert flag is True
        return tf.cast(batch["x"], tf.float64) + variable, outside

    program = harness.lower(
        strategy,
        step,
        tf.TensorSpec([2], tf.int64),
        {"x": tf.TensorSpec([3, 5], tf.bfloat16)},
        True,
    )
    module = harness.module(program)
    entry = [each for each in module.computations if each.id == module.entry_computation_id][0]
    shapes = {
        each.parameter_number: tuple(each.shape.dimensions)
        for each in entry.instructions
        if each.opcode == "parameter"
    }
    assert [each.shape for each in program.parameters] == [shapes[i] for i in range(len(shapes))]
    assert [(each.name, each.dtype) for each in program.parameters[:2]] == [
        ("unused", "int64"),
        ("batch/x", "bfloat16"),
    ]
    assert ("capture", (3,)) in [(each.kind, each.shape) for each in program.parameters]
    assert harness.updated(program) == []


def test_a_variable_of_a_function_in_a_loop_has_its_own_name(strategy):
    outside = tf.Variable(tf.ones([2, 2]), name="outside")
    with strategy.scope():
        inside = tf.Variable(tf.ones([2, 2]), name="inside")

    @tf.function
    def inner(x):
        return tf.matmul(tf.matmul(x, outside), inside)

    @tf.function
    def step(x):
        for _ in tf.range(2):
            x = inner(x)
        return x

    program = harness.lower(strategy, step, tf.TensorSpec([2, 2]))
    assert [each.name for each in program.parameters] == ["x", "outside", "inside"]


def test_the_replica_id_is_symbolic(strategy):
    program = harness.lower(
        strategy, lambda: tf.cast(context().replica_id_in_sync_group, tf.float32)
    )
    assert "replica-id" in harness.opcodes(program)


def test_a_mean_is_a_sum_of_scaled_values(strategy):
    def step(x):
        return context().all_reduce(MEAN, x)

    opcodes = harness.opcodes(harness.lower(strategy, step, tf.ones([4])))
    assert opcodes.index("multiply") < opcodes.index("all-reduce")


def test_merge_call_with_reduce(strategy):
    def merge(distribution, value):
        return distribution.reduce(SUM, value, axis=0)

    def step(x):
        return context().merge_call(merge, args=(x,))

    program = harness.lower(strategy, step, tf.ones([4, 5]))
    assert collectives(program) == [("all-reduce", "float32", (5,))]
    assert harness.results(program) == [(5,)]


@pytest.mark.skipif(
    not hasattr(tf.distribute.ReplicaContext, "all_gather"),
    reason="all_gather came with TensorFlow 2.5",
)
def test_all_gather(strategy):
    program = harness.lower(strategy, lambda x: context().all_gather(x, axis=1), tf.ones([2, 3]))
    assert harness.results(program) == [(2, 24)]
    assert collectives(program) == [("all-reduce", "float32", (8, 2, 3))]


@pytest.mark.parametrize(
    ("synchronization", "aggregation", "reductions"),
    [
        ("ON_READ", "SUM", 0),
        ("AUTO", "NONE", 0),
        ("AUTO", "ONLY_FIRST_REPLICA", 0),
        ("AUTO", "SUM", 1),
        ("AUTO", "MEAN", 1),
    ],
)
def test_assignments(strategy, synchronization, aggregation, reductions):
    with strategy.scope():
        variable = tf.Variable(
            1.0,
            trainable=False,
            name="v",
            synchronization=getattr(tf.VariableSynchronization, synchronization),
            aggregation=getattr(tf.VariableAggregation, aggregation),
        )
    before = variable.values

    def step(x):
        variable.assign_add(x)

    program = harness.lower(strategy, step, tf.ones([]))
    assert len(program.collectives) == reductions
    assert harness.updated(program) == ["v"]
    assert variable.values == before, "lowering must not change how it is stored"


def test_sparse_gradients_are_dense_when_reduced(strategy):
    with strategy.scope():
        table = tf.Variable(tf.ones([50, 4]), name="table")

    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, ids))
        return context().all_reduce(SUM, tape.gradient(loss, table))

    program = harness.lower(strategy, step, tf.zeros([7], tf.int32))
    assert ("all-reduce", "float32", (50, 4)) in collectives(program)


def test_nested_functions_branches_and_loops(strategy):
    @tf.function
    def inner(x):
        return context().all_reduce(SUM, x)  # nested

    def step(x):
        total = inner(x)
        for _ in tf.range(3):
            total += inner(total)
        if tf.reduce_sum(x) > 0.0:
            total *= 2.0
        return total

    program = harness.lower(strategy, step, tf.ones([4]))
    assert {"while", "conditional", "all-reduce"} <= set(harness.opcodes(program))
    assert len(program.collectives) == 2
    assert {each.location[-len(line("nested")) :] for each in program.collectives} == {
        line("nested")
    }


def test_locations_are_the_users_lines(strategy):
    def step(x):
        y = tf.linalg.matmul(x, x)  # product
        return tf.nn.relu(y)  # activation

    program = harness.lower(strategy, step, tf.ones([4, 4]))
    ends = {name.split("/")[-1]: place for name, place in program.locations.items()}
    assert ends["MatMul"].endswith(line("product"))
    assert ends["Relu"].endswith(line("activation"))


def test_a_function_is_traced_once(strategy):
    traces = []

    def step(x):
        traces.append(1)
        if not variables:
            variables.append(tf.Variable(tf.ones([4])))
        return x + variables[0]

    variables = []
    harness.lower(strategy, tf.function(step), tf.ones([4]))
    assert len(traces) == 1


def test_the_strategy_runs_as_before_and_functions_are_not_shared(strategy):
    @tf.function
    def inner(x):
        return x + tf.cast(context().replica_id_in_sync_group, tf.float32)

    def step(x):
        return context().all_reduce(SUM, inner(x))

    @tf.function
    def run(x):
        return strategy.run(step, args=(x,))

    program = harness.lower(strategy, step, tf.ones([]))
    assert "replica-id" in harness.opcodes(program)
    results = strategy.experimental_local_results(run(tf.constant(1.0)))
    assert [float(each) for each in results] == [36.0] * 8


def test_the_same_step_lowers_to_the_same_bytes(strategy):
    def step(x):
        return context().all_reduce(SUM, tf.nn.softmax(x))

    first, second = [harness.lower(strategy, step, tf.ones([4])) for _ in range(2)]
    assert harness.skeleton(first) == harness.skeleton(second)
    assert harness.skeleton(first) != harness.skeleton(
        harness.lower(strategy, lambda x: step(x * 2.0), tf.ones([4]))
    )


def test_an_unknown_dimension_is_refused(strategy):
    with pytest.raises(CompileError, match=r"argument batch .*None"):
        harness.lower(strategy, lambda batch: batch, tf.TensorSpec([None, 4], tf.float32))


def test_strings_cannot_be_reduced(strategy):
    with pytest.raises(CollectiveError, match="dtype string"):
        harness.lower(strategy, lambda: context().all_reduce(SUM, tf.constant("x")))


@pytest.mark.parametrize(
    ("annotate", "kind", "tiles"),
    [
        (lambda s, x: s.experimental_split_to_logical_devices(x, [2, 1]), "OTHER", [2, 1]),
        (lambda s, x: s.experimental_split_to_logical_devices(x, [1, 2]), "OTHER", [1, 2]),
        (lambda s, x: s.experimental_replicate_to_logical_devices(x), "REPLICATED", []),
        (lambda s, x: s.experimental_assign_to_logical_device(x, 1), "MAXIMAL", []),
    ],
)
def test_logical_devices(annotate, kind, tiles):
    halves = harness.logical(4, 2)
    program = harness.lower(halves, lambda x: annotate(halves, x) * 2.0, tf.ones([16, 4]))
    assert (program.replicas, program.partitions) == (4, 2)
    (sharding,) = _annotations(program)
    assert sharding.Type.Name(sharding.type) == kind
    assert list(sharding.tile_assignment_dimensions)[: len(tiles)] == tiles


def test_a_split_variable():
    halves = harness.logical(2, 4)
    with halves.scope():
        weight = tf.Variable(tf.ones([8, 12]), name="weight")

    def step(x):
        return tf.matmul(x, halves.experimental_split_to_logical_devices(weight, [2, 2]))

    (sharding,) = _annotations(harness.lower(halves, step, tf.ones([4, 8])))
    assert list(sharding.tile_assignment_dimensions) == [2, 2]


def _annotations(program):
    """The shardings that a program is annotated with."""
    return [
        instruction.sharding
        for computation in harness.module(program).computations
        for instruction in computation.instructions
        if instruction.custom_call_target == "Sharding"
    ]
