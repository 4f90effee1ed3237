"""Effects in a replica function happen in the order of its control dependencies.

Where replicas share a resource that is not the strategy's, the first replica
does all that it does with it, then the second: what MirroredStrategy gives.
"""

import functools

import pytest
import tensorflow as tf

from tests.virtual.harness import CORES
from tpudist.tfcompat import distributed, versions

IDS = [0.0, 1.0, 2.0, 3.0]

pytestmark = pytest.mark.skipif(
    not versions.TF2, reason="tf.print in a function is not ordered before 2.0"
)


def context():
    return tf.distribute.get_replica_context()


def number():
    return tf.cast(context().replica_id_in_sync_group, tf.float32)


def run(strategy, fn, noisy=False):
    """The per-replica numbers of `fn`; `noisy` keeps its replicas apart."""

    def replica():
        found = fn()
        if noisy:
            tf.print("", end="")
        return tf.identity(found)

    found = tf.function(lambda: strategy.run(replica))()
    return [part.numpy() for part in strategy.experimental_local_results(found)]


assigns_without_aggregation = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.3 TensorFlow refuses it; 2.3 is traced as before"
)
batched_or_not = pytest.mark.parametrize("noisy", [False, True], ids=["batched", "apart"])


@batched_or_not
def test_each_replica_reads_what_it_assigned(strategy, noisy):
    shared = tf.Variable(0.0)

    def fn():
        shared.assign(number())
        return shared.read_value()

    assert run(strategy, fn, noisy) == IDS
    assert shared.numpy() == 3.0


@batched_or_not
def test_a_chain_over_two_variables_is_done_replica_by_replica(strategy, noisy):
    first, second = tf.Variable(0.0), tf.Variable(0.0)

    def fn():
        first.assign(number() + 1.0)
        second.assign_add(first * 10.0)
        return second.read_value()

    assert run(strategy, fn, noisy) == [10.0, 30.0, 60.0, 100.0]


@pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="TensorFlow itself takes it for another resource (2.2)"
)
@batched_or_not
def test_a_handle_under_another_name_is_the_same_variable(strategy, noisy):
    shared = tf.Variable(0.0)

    def fn():
        tf.raw_ops.AssignVariableOp(resource=tf.identity(shared.handle), value=number())
        return shared.read_value()

    assert run(strategy, fn, noisy) == IDS


@batched_or_not
def test_one_addition_per_replica_may_be_batched(strategy, noisy):
    shared = tf.Variable(0.0)

    def fn():
        shared.assign_add(number())
        return number()

    assert run(strategy, fn, noisy) == IDS
    assert shared.numpy() == 6.0


@assigns_without_aggregation
@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
@batched_or_not
def test_a_uniform_assignment_does_not_synchronize_replicas(strategy, noisy, again):
    """Without aggregation TensorFlow's replicas assign each for itself."""
    shared = tf.Variable(1.0)
    with strategy.scope():
        own = [tf.Variable(0.0) for _ in range(1 + again)]

    def fn():
        found = shared.read_value()
        for each in own:
            each.assign(-3.0)
            tf.cond(number() >= 0.0, lambda: shared.assign_add(number() + 1), shared.read_value)
        return found + own[0].read_value()

    assert run(strategy, fn, noisy) == [
        1.0 + sum(i + 1 for i in range(replica)) * (1 + again) - 3.0 for replica in range(CORES)
    ]
    for each in own:
        assert [part.numpy() for part in strategy.experimental_local_results(each)] == [-3] * CORES


@assigns_without_aggregation
@batched_or_not
def test_a_uniform_assignment_after_an_all_reduce(strategy, noisy):
    """What comes before a merge of TensorFlow's is done by all replicas before it."""
    shared = tf.Variable(1.0)
    with strategy.scope():
        own = tf.Variable(0.0)

    def fn():
        found = shared.read_value()
        total = context().all_reduce(tf.distribute.ReduceOp.SUM, number())
        own.assign(-3.0)
        shared.assign_add(total)
        return found

    assert run(strategy, fn, noisy) == [1.0] * CORES
    assert shared.numpy() == 1.0 + CORES * sum(IDS)


@batched_or_not
def test_a_variable_is_read_before_and_after_a_merge(strategy, noisy):
    shared = tf.Variable(1.0)

    def fn():
        before = shared.read_value()
        total = context().all_reduce(tf.distribute.ReduceOp.SUM, number())
        shared.assign_add(total)
        return before * 100.0 + shared.read_value()

    assert run(strategy, fn, noisy) == [107.0, 113.0, 119.0, 125.0]


def test_a_table_a_queue_and_a_variable_are_used_in_turn(strategy):
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.float32, default_value=-1.0, empty_key=-1, deleted_key=-2
    )
    queue = tf.queue.FIFOQueue(100, tf.float32, [])
    count = tf.Variable(0.0)

    def fn():
        count.assign_add(1.0)
        table.insert(tf.constant([0], tf.int64), tf.reshape(count, [1]))
        queue.enqueue(number())
        found = table.lookup(tf.constant([0], tf.int64))[0]
        return found + 10.0 * tf.cast(queue.size(), tf.float32)

    assert run(strategy, fn) == [11.0, 22.0, 33.0, 44.0]
    assert [queue.dequeue().numpy() for _ in range(CORES)] == IDS


def test_calls_of_python_happen_in_the_order_of_the_code(strategy):
    seen = []

    def note(name, replica_id):
        seen.append((name, int(replica_id)))
        return replica_id

    def fn():
        for name in "ab":
            tf.py_function(functools.partial(note, name), [number()], tf.float32)
        return context().all_reduce(tf.distribute.ReduceOp.SUM, number())

    assert run(strategy, fn) == [6.0] * CORES
    assert seen == [(name, i) for i in range(CORES) for name in "ab"]


@assigns_without_aggregation
@pytest.mark.parametrize("answers", [True, False])
def test_python_calls_around_a_uniform_assignment(strategy, answers):
    """What it answers depends on the order among replicas; what it only sees splits nothing."""
    seen = []

    def note(replica_id):
        seen.append(float(replica_id))
        return float(len(seen)) if answers else None

    with strategy.scope():
        own = tf.Variable(1.0)

    def fn():
        before = tf.py_function(note, [number()], tf.float32 if answers else [])
        own.assign(3.0)
        after = tf.py_function(note, [number()], tf.float32 if answers else [])
        return tf.stack([before, after]) if answers else own.read_value()

    found = [part.tolist() for part in run(strategy, fn)]
    if answers:
        assert found == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]
    else:
        assert found == [3.0] * CORES and sorted(seen) == sorted(IDS * 2)
    copies = {id(part) for part in distributed.components(own)}
    assert len(copies) == (CORES if answers else 1)


def test_a_tensor_array_is_written_by_each_replica(strategy):
    def fn():
        array = tf.TensorArray(tf.float32, 2, element_shape=[])
        array = array.write(0, number()).write(1, number() * 2.0)
        return tf.reduce_sum(array.stack())

    assert run(strategy, fn) == [0.0, 3.0, 6.0, 9.0]


@pytest.mark.parametrize("through", ["identity", "identity_n", "input", "no_op"])
def test_a_control_dependency_holds_through_ops_that_return_their_input(strategy, through):
    shared, seen = tf.Variable(0.0), []

    def look(replica_id):
        seen.append((float(replica_id), float(shared.numpy())))

    def fn():
        mine, slow = number(), tf.reduce_sum(tf.linalg.inv(tf.eye(200)) * 0.0)
        with tf.control_dependencies([shared.assign_add(mine + 1.0 + slow)]):
            passed = {
                "identity": lambda: tf.identity(mine).op,
                "identity_n": lambda: tf.identity_n([mine])[0].op,
                "input": lambda: tf.identity_n([mine])[0],
                "no_op": tf.no_op,
            }[through]()
        waits = [] if through == "input" else [passed]
        with tf.control_dependencies(waits):
            tf.py_function(look, [mine if waits else passed], [])
        return number()

    assert run(strategy, fn) == IDS
    least = dict(zip(IDS, [1.0, 3.0, 6.0, 10.0]))
    assert sorted(replica_id for replica_id, _ in seen) == IDS
    assert all(value >= least[replica_id] for replica_id, value in seen)


def test_replicas_look_up_in_turn_a_table_that_they_insert_to(strategy):
    """Each replica sees what those before it have inserted."""
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.float32, default_value=-1.0, empty_key=-1, deleted_key=-2
    )
    table.insert(tf.constant([0, 1], tf.int64), tf.constant([5.0, 6.0]))
    seven = tf.constant([7], tf.int64)

    def inserts():
        before = table.lookup(seven)[0]
        table.insert(seven, tf.reshape(number(), [1]))
        return before

    assert run(strategy, inserts) == [-1.0, 0.0, 1.0, 2.0]
    assert run(strategy, inserts) == [3.0, 0.0, 1.0, 2.0]
    found = run(strategy, lambda: table.lookup(tf.cast(tf.reshape(number(), [1]), tf.int64))[0])
    assert found == [5.0, 6.0, -1.0, -1.0]
