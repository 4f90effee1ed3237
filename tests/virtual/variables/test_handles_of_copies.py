"""Replica functions that use the handle of each copy of a split variable."""

import inspect

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.virtual.harness import CORES, START, VALUES, copy_values, run_step, with_split_copies
from tpudist.system import cluster, placement
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

pytestmark = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 replicas are traced one by one"
)


def scattered(variable, x):
    variable.scatter_update(tf.IndexedSlices(x[:1] * 10.0, tf.constant([1])))
    return variable.read_value()


def looped(variable, x):
    for _ in tf.range(3):
        variable.assign_add(x)
    return variable.read_value()


def branched(variable, x):
    if x[0] > 3.0:
        variable.assign(x * 100.0)
    return variable * 1.0


def printed(variable, x):
    tf.print("read", variable.read_value(), output_stream="file:///dev/null")
    variable.assign_sub(x)
    tf.print("left", variable.read_value(), output_stream="file:///dev/null")
    return variable + 1.0


def read_in_a_loop(variable, x):
    total = tf.zeros([2])
    for i in tf.range(tf.cast(x[0], tf.int32)):
        total += variable * tf.cast(i, tf.float32)
    return total


def written_raw(variable, x):
    tf.raw_ops.AssignAddVariableOp(resource=variable.handle, value=x)
    return variable.read_value()


def between_meetings(variable, x):
    context = tf.distribute.get_replica_context()
    before = context.all_reduce(tf.distribute.ReduceOp.SUM, variable.read_value())
    scattered(variable, x)
    after = context.all_reduce(tf.distribute.ReduceOp.SUM, variable.read_value())
    return tf.concat([before, after], 0)


def _scattered(x):
    return (np.array([x[0], x[0] * 10.0]),) * 2


def _between(x):
    after = np.array([VALUES[:, 0].sum(), VALUES[:, 0].sum() * 10.0])
    return np.concatenate([VALUES.sum(0), after]), _scattered(x)[1]


#: {replica function: what replica gets x returns, and its copy is after}, where its copy was x.
NEED_HANDLES = {
    scattered: _scattered,
    looped: lambda x: (4.0 * x, 4.0 * x),
    branched: lambda x: (x * 100.0, x * 100.0) if x[0] > 3.0 else (x, x),
    printed: lambda x: (x - x + 1.0, x - x),
    read_in_a_loop: lambda x: (x * sum(range(int(x[0]))), x),
    written_raw: lambda x: (2.0 * x, 2.0 * x),
    between_meetings: _between,
}


@pytest.mark.parametrize("replica", NEED_HANDLES, ids=lambda replica: replica.__name__)
def test_replica_functions_that_need_a_handle_per_replica(replica):
    strategy, variable = with_split_copies()
    outputs = run_step(strategy, lambda x: tf.autograph.to_graph(replica)(variable, x))
    wanted, left = zip(*map(NEED_HANDLES[replica], VALUES))
    np.testing.assert_allclose(outputs, wanted, rtol=1e-6)
    np.testing.assert_allclose(copy_values(strategy, variable), left, rtol=1e-6)


def test_a_function_that_reads_a_variable_is_batched_but_for_the_read():
    strategy, variable = with_split_copies()
    inner = tf.function(lambda x: variable * x + 1.0)
    np.testing.assert_array_equal(run_step(strategy, lambda x: inner(x)), VALUES**2 + 1.0)
    copied = strategy.extended.explanations[-1].record.per_replica
    assert {ops.op_type for ops in copied} == {"ReadVariableOp"}


@pytest.mark.skipif(
    "jit_compile" not in inspect.signature(tf.function).parameters,
    reason="2.4 has another word for jit_compile",
)
def test_a_compiled_function_that_reads_a_variable_is_called_once_per_replica():
    strategy, variable = with_split_copies()
    inner = tf.function(lambda x: variable * x, jit_compile=True)
    outputs = run_step(strategy, lambda x: inner(x) + tf.sin(x))
    np.testing.assert_allclose(outputs, VALUES**2 + np.sin(VALUES), rtol=1e-6)
    assert 0.0 < strategy.extended.explanations[-1].share < 1.0


@pytest.mark.parametrize("cores", [[3, 1], [2]])
def test_a_strategy_of_fewer_cores_has_their_copies(cores):
    resolver = cluster.TPUClusterResolver("virtual:%d" % CORES)
    topology = cluster.initialize_tpu_system(resolver)
    whole = TPUStrategy(resolver)
    with whole.scope():
        variable = tf.Variable(START, trainable=False)
    run_step(whole, lambda x: variable.assign(x))
    places = topology.device_coordinates.reshape([-1, 1, topology.mesh_rank])[cores]
    part = TPUStrategy(resolver, placement.DeviceAssignment(topology, places))

    @tf.function
    def step():
        return part.run(lambda: variable.assign_add([1.0, 1.0]).read_value())

    expected = VALUES.copy()
    for _ in range(2):
        outputs = [each.numpy() for each in part.experimental_local_results(step())]
        expected[cores] += 1.0
        np.testing.assert_array_equal(outputs, expected[cores])
        np.testing.assert_array_equal(copy_values(whole, variable), expected)


def test_a_merge_that_is_given_handles():
    strategy, variable = with_split_copies()

    def merge(strategy, handles):
        for i, handle in enumerate(strategy.experimental_local_results(handles)):
            tf.raw_ops.AssignAddVariableOp(resource=handle, value=START * i)

    def replica(x):
        context = tf.distribute.get_replica_context()
        context.merge_call(merge, args=(variable.handle,))
        return variable + x

    expected = VALUES + START * np.arange(CORES, dtype=np.float32)[:, np.newaxis]
    np.testing.assert_array_equal(run_step(strategy, replica), expected + VALUES)
    np.testing.assert_array_equal(copy_values(strategy, variable), expected)


ADDED = np.arange(CORES * 2, dtype=np.float32).reshape([CORES, 2])


class Actions:
    """A variable, what it should hold, and what can be done to both."""

    def __init__(self):
        self.strategy, self.variable = with_split_copies()
        self.now = VALUES.copy()

    def copy(self, index=1):
        """The copy of a replica."""
        return self.strategy.experimental_local_results(self.variable)[index]

    def add(self):
        run_step(self.strategy, lambda x: self.variable.assign_add(x), ADDED)
        self.now += ADDED

    def set_from_itself(self):
        run_step(self.strategy, lambda x: self.variable.assign(x - self.variable), ADDED)
        self.now = ADDED - self.now

    def scatter(self):
        run_step(self.strategy, lambda x: scattered(self.variable, x), ADDED)
        self.now[:, 1] = ADDED[:, 0] * 10.0

    def scatter_in_all(self):
        update = tf.IndexedSlices(tf.constant([3.0]), tf.constant([0]))
        run_step(self.strategy, lambda x: self.variable.scatter_add(update), ADDED)
        self.now[:, 0] += 3.0

    def assign_all(self):
        self.variable.assign([5.0, 6.0])
        self.now[:] = [5.0, 6.0]

    def assign_a_copy(self):
        self.copy(2).assign_sub([1.0, 2.0])
        self.now[2] -= [1.0, 2.0]

    def scatter_in_a_copy(self):
        self.copy(3).scatter_nd_add([[1]], [4.0])
        self.now[3, 1] += 4.0

    def double_in_a_function(self):
        @tf.function
        def double():
            for part in self.strategy.experimental_local_results(self.variable):
                part.assign(part * 2.0)

        double()
        self.now *= 2.0

    def update(self):
        def update(part, value):
            return part.assign_add(value)

        with self.strategy.scope():
            self.strategy.extended.update(self.variable, update, args=(START,))
        self.now += START


NAMES = sorted(name for name in vars(Actions) if not name.startswith("_") and name != "copy")


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(st.lists(st.sampled_from(NAMES), min_size=2, max_size=5))
def test_copies_have_the_values_of_separate_variables(names):
    actions = Actions()
    for name in names:
        getattr(actions, name)()
        np.testing.assert_allclose(copy_values(actions.strategy, actions.variable), actions.now)
        np.testing.assert_allclose(
            run_step(actions.strategy, lambda x: actions.variable * x), actions.now * VALUES
        )
