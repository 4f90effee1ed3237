"""Split variables: each replica's copy is a variable of its own, and theirs a distributed one."""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual.harness import (
    CORES,
    START,
    VALUES,
    copy_values,
    make,
    run_step,
    with_split_copies,
)
from tpudist.tfcompat import versions

pytestmark = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 replicas are traced one by one"
)


# What a copy does is what a variable of its own does.

METHODS = {
    "assign": lambda v: v.assign([7.0, 8.0]),
    "assign of another": lambda v: v.assign(v * 2.0),
    "assign_add": lambda v: v.assign_add([1.0, 2.0]),
    "assign_sub": lambda v: v.assign_sub([1.0, 2.0]),
    "assign_sub, not read": lambda v: v.assign_sub([1.0, 2.0], read_value=False),
    "slice": lambda v: v[1:].assign([9.0]),
    "scatter_add": lambda v: v.scatter_add(tf.IndexedSlices(tf.constant([4.0]), tf.constant([1]))),
    "scatter_update": lambda v: v.scatter_update(
        tf.IndexedSlices(tf.constant([4.0]), tf.constant([0]))
    ),
    "scatter_nd_update": lambda v: v.scatter_nd_update([[1]], [5.0]),
    "batch_scatter_update": lambda v: v.batch_scatter_update(
        tf.IndexedSlices(tf.constant([4.0]), tf.constant([0]))
    ),
    "value": lambda v: v.value(),
    "read_value": lambda v: v.read_value(),
    "as a tensor": lambda v: v + 1.0,
    "on the right": lambda v: 10.0 / v,
    "matmul": lambda v: tf.linalg.matvec(tf.ones([3, 2]), v),
    "gather": lambda v: tf.gather(v, [1, 0, 1]),
    "gather_nd": lambda v: v.gather_nd([[1]]),
    "sparse_read": lambda v: v.sparse_read([1]),
    "index": lambda v: v[1],
    "is_initialized": lambda v: v.is_initialized(),
}


def seen(outputs, variable):
    """What a method gave, and what the variable holds."""
    returned = None if outputs is None else tf.convert_to_tensor(outputs).numpy()
    return returned, variable.read_value().numpy()


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("how", sorted(METHODS))
@pytest.mark.parametrize("index", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_a_copy_is_a_variable(index, how, in_function):
    strategy, variable = with_split_copies()
    copy = strategy.experimental_local_results(variable)[index]
    alone = tf.Variable(VALUES[index], trainable=False)

    def called(target):
        outputs = METHODS[how](target)
        return None if isinstance(outputs, tf.Operation) else outputs

    if in_function:
        outputs, expected = (
            tf.function(lambda: called(copy))(),
            tf.function(lambda: called(alone))(),
        )
    else:
        outputs, expected = called(copy), called(alone)
    for one, other in zip(seen(outputs, copy), seen(expected, alone)):
        np.testing.assert_array_equal(one, other)
    others = np.delete(copy_values(strategy, variable), index, 0)
    np.testing.assert_array_equal(others, np.delete(VALUES, index, 0))


@pytest.mark.parametrize("start", [2.5, True, [b"a", b"b"], [[1, 2, 3]], np.ones([2, 3, 1])])
def test_values_of_any_shape_and_type(start):
    start = np.array(start)
    kind = {"f": "f4", "S": "O", "i": "i8"}.get(start.dtype.kind, start.dtype)
    inputs = np.stack([start.astype(kind)] * CORES)
    if start.dtype.kind in "fi":
        inputs += np.arange(CORES, dtype=kind).reshape([CORES] + [1] * start.ndim)
    else:
        inputs[1::2] = inputs[1::2, ..., ::-1] if start.ndim else ~inputs[1::2]
    strategy = make(CORES)
    with strategy.scope():
        variable = tf.Variable(inputs[0], trainable=False)

    def replica(x):
        before = variable.read_value()
        variable.assign(x)
        return tf.stack([before, variable.read_value()])

    before, after = zip(*run_step(strategy, replica, inputs))
    np.testing.assert_array_equal(before, inputs[:1].repeat(CORES, 0))
    np.testing.assert_array_equal(after, inputs)
    np.testing.assert_array_equal(copy_values(strategy, variable), inputs)


def test_the_attributes_of_a_copy():
    strategy, variable = with_split_copies(name="average")
    copies = strategy.experimental_local_results(variable)
    assert [copy.name for copy in copies] == ["average:0"] + [
        "average/replica_%d:0" % i for i in range(1, CORES)
    ]
    for copy in copies:
        assert isinstance(copy, type(copies[0])) and isinstance(copy, tf.Variable)
        assert (copy.shape, copy.dtype, copy.trainable) == ([2], tf.float32, False)
        assert copy.device == copies[0].device
    assert copies[1] is strategy.experimental_local_results(variable)[1]
    assert "[3., 4.]" in repr(copies[1])
    with strategy.scope():
        assert strategy.extended.update(variable, lambda part: part) is variable


def test_a_value_of_another_shape_is_refused_as_of_any_variable():
    strategy, variable = with_split_copies()
    with pytest.raises(ValueError, match="incompatible|compatible"):
        strategy.experimental_local_results(variable)[1].assign([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(copy_values(strategy, variable), VALUES)


@pytest.mark.parametrize("how", ["assign_add", "assign_sub"])
def test_a_sum_does_not_broadcast_as_of_any_variable(how):
    strategy, variable = with_split_copies()
    copies = [strategy.experimental_local_results(variable)[1], tf.Variable(VALUES[1])]
    for copy in copies:
        with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
            getattr(copy, how)(1.0)
    np.testing.assert_array_equal(copy_values(strategy, variable), VALUES)


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
def test_a_counter_gives_the_value_before(in_function):
    strategy = make(CORES)
    with strategy.scope():
        variable = tf.Variable(0, trainable=False)
    run_step(strategy, lambda x: variable.assign(x), np.arange(CORES, dtype=np.int32))
    copy = strategy.experimental_local_results(variable)[2]
    count = tf.function(lambda: copy.count_up_to(9)) if in_function else lambda: copy.count_up_to(9)
    assert int(count()) == 2
    assert copy_values(strategy, variable) == [0, 1, 3, 3]


def test_the_handle_of_a_copy_is_its_own():
    strategy, variable = with_split_copies()
    copy = strategy.experimental_local_results(variable)[1]
    tf.raw_ops.AssignAddVariableOp(resource=copy.handle, value=START)
    expected = VALUES.copy()
    expected[1] += START
    np.testing.assert_array_equal(copy_values(strategy, variable), expected)


def test_a_checkpoint_has_the_first_copy_and_is_restored_to_all(tmp_path):
    strategy, variable = with_split_copies()
    checkpoint = tf.train.Checkpoint(v=variable)
    path = checkpoint.save(str(tmp_path / "model"))
    assert dict(tf.train.list_variables(path))["v/.ATTRIBUTES/VARIABLE_VALUE"] == [2]
    variable.assign([0.0, 0.0])
    np.testing.assert_array_equal(copy_values(strategy, variable), [[0.0, 0.0]] * CORES)
    checkpoint.restore(path).assert_consumed()
    np.testing.assert_array_equal(copy_values(strategy, variable), [VALUES[0]] * CORES)


def test_copies_that_are_in_use_become_variables():
    strategy = make(CORES)
    with strategy.scope():
        variable = tf.Variable(START, trainable=False)
    taken = strategy.experimental_local_results(variable)
    run_step(strategy, lambda x: variable.assign(x))
    np.testing.assert_array_equal([part.numpy() for part in taken], VALUES)


def test_a_returned_assignment_gives_each_replicas_copy():
    strategy, variable = with_split_copies()
    outputs = strategy.run(tf.function(lambda: variable.assign_add([1.0, 1.0])))
    np.testing.assert_array_equal(strategy.experimental_local_results(outputs), VALUES + 1.0)


def test_a_reduction_over_copies():
    strategy, variable = with_split_copies()
    with strategy.scope():
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, variable, axis=None)
    np.testing.assert_array_equal(total, VALUES.sum(0))


def module_of(strategy):
    """A module with a step that gives each copy a value of its own, and `serve`, of the first."""
    module = tf.Module()
    with strategy.scope():
        module.average = tf.Variable(START, trainable=False)

    def step(x):
        def replica():
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            module.average.assign(module.average * 0.5 + x[number])
            return module.average.read_value()

        return tf.stack(strategy.experimental_local_results(strategy.run(replica)))

    rows, row = tf.TensorSpec([CORES, 2]), tf.TensorSpec([2])
    module.step = tf.function(step, input_signature=[rows])
    module.serve = tf.function(lambda x: x + module.average, input_signature=[row])
    return module


def test_a_saved_model_has_the_first_value_and_the_strategy_keeps_its_copies(tmp_path):
    strategy = make(CORES)
    module = module_of(strategy)
    module.step(VALUES)
    first = START * 0.5 + VALUES[0]
    tf.saved_model.save(module, str(tmp_path / "model"))
    np.testing.assert_array_equal(copy_values(strategy, module.average)[1], START * 0.5 + VALUES[1])
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.serve(START), START + first)
    names = dict(tf.train.list_variables(str(tmp_path / "model" / "variables" / "variables")))
    assert [name for name in names if "average" in name] == ["average/.ATTRIBUTES/VARIABLE_VALUE"]
