"""How often a variable is stored."""

import pytest
import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.system import cluster
from tpudist.tfcompat import distributed, versions
from tpudist.v2_0.strategy import TPUStrategy

NONE = tf.VariableAggregation.NONE
CORES = 4

may_differ = pytest.mark.skipif(
    not versions.ASSIGN_WITHOUT_AGGREGATION,
    reason="before 2.3 assigning it in a replica is a ValueError",
)
traced_once = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 the replica function is traced once per replica"
)


@pytest.fixture
def strategy():
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))


def stored(strategy, variable):
    """How many different variables hold the values of all replicas."""
    return len({id(part) for part in distributed.components(variable)})


def make(strategy, **kwargs):
    with strategy.scope():
        return tf.Variable(1.0, **kwargs)


@pytest.mark.parametrize(
    "aggregation",
    [
        tf.VariableAggregation.NONE,
        tf.VariableAggregation.SUM,
        tf.VariableAggregation.MEAN,
        tf.VariableAggregation.ONLY_FIRST_REPLICA,
    ],
)
def test_a_mirrored_variable_is_stored_once(strategy, aggregation):
    assert stored(strategy, make(strategy, aggregation=aggregation)) == 1


def test_a_sync_on_read_variable_is_stored_per_replica(strategy):
    variable = make(
        strategy,
        trainable=False,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
    assert stored(strategy, variable) == CORES


def assign_ids(strategy, variable):
    @tf.function
    def call():
        def fn():
            context = tf.distribute.get_replica_context()
            variable.assign(tf.cast(context.replica_id_in_sync_group, tf.float32))

        strategy.experimental_run_v2(fn)

    call()


@may_differ
def test_copies_differ_once_a_replica_assigns_without_aggregation(strategy):
    variable = make(strategy)
    assign_ids(strategy, variable)
    values = [part.numpy() for part in strategy.experimental_local_results(variable)]
    assert values == [0.0, 1.0, 2.0, 3.0]
    variable.assign(7.0)
    values = [part.numpy() for part in strategy.experimental_local_results(variable)]
    assert values == [7.0] * CORES


@pytest.mark.skipif(not versions.TRACE_ONCE, reason="before 2.4 no trace stands for all replicas")
def test_splitting_a_variable_that_a_trace_relies_on_is_refused(strategy):
    variable = make(strategy, name="counter")

    @tf.function
    def read():
        return strategy.experimental_run_v2(lambda: variable + 0.0)

    read()
    with pytest.raises(ContextError, match="counter.*ONLY_FIRST_REPLICA"):
        assign_ids(strategy, variable)
    assert variable.numpy() == 1.0


@traced_once
@pytest.mark.parametrize("in_function", [True, False], ids=["function", "eager run"])
def test_a_variable_may_start_from_another(strategy, in_function):
    # It ended in an UnliftableError; MirroredStrategy gives 2 v.
    with strategy.scope():
        variable = tf.Variable([3.0])
    made = []

    def fn():
        if not made:
            made.append(tf.Variable(variable * 2.0 + 1.0))
        return made[0] + 0.0

    variable.assign([4.0])
    call = (
        tf.function(lambda: strategy.experimental_run_v2(fn))
        if in_function
        else (lambda: strategy.experimental_run_v2(tf.function(fn)))
    )
    for _ in range(2):
        found = [part.numpy().tolist() for part in strategy.experimental_local_results(call())]
        assert found == [[9.0]] * len(found)


@traced_once
@pytest.mark.parametrize("why", ["assigned", "reduced", "argument"])
def test_a_variable_cannot_start_from_a_value_of_the_function(strategy, why):
    how = tf.VariableAggregation.SUM if why == "reduced" else tf.VariableAggregation.NONE
    with strategy.scope():
        variable = tf.Variable(3.0, aggregation=how)
    made = []

    def fn(x):
        if why != "argument":
            variable.assign_add(x)
        if not made:
            made.append(tf.Variable((x if why == "argument" else variable) * 2.0))
        return made[0] + 0.0

    with pytest.raises(ContextError, match="starts from .* Instead: .*scope"):
        tf.function(lambda x: strategy.experimental_run_v2(fn, args=(x,)))(tf.constant(1.0))


@may_differ
def test_one_core_is_given_its_own_value(strategy):
    variable = make(strategy)

    @tf.function
    def call():
        def fn():
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            variable.assign(tf.where(tf.equal(number, 1), 5.0, variable))

        strategy.experimental_run_v2(fn)

    call()
    parts = strategy.experimental_local_results(variable)
    assert [part.numpy() for part in parts] == [1.0, 5.0, 1.0, 1.0]
    parts[2].assign(7.0)
    assert [part.numpy() for part in parts] == [1.0, 5.0, 7.0, 1.0]
