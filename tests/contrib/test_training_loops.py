"""The loops of tf.contrib.tpu, its infeed and its outfeed, on the virtual TPU."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import close, tf1
from tpudist.contrib import tpu
from tpudist.errors import ArgumentError, ContextError
from tpudist.tfcompat import versions

meeting = pytest.mark.skipif(
    not versions.TRACES_AS_FIRST, reason="1.13 refuses a loop in which the cores meet"
)


def scalar(name, value=1.0):
    return tf1.get_variable(name, initializer=value, use_resource=True)


def minimize(loss, rate=0.1):
    optimizer = tpu.CrossShardOptimizer(tf1.train.GradientDescentOptimizer(rate))
    return optimizer.minimize(loss, tf1.train.get_or_create_global_step())


def square(loss):
    """A step that moves ``weight`` by -0.2 of itself, and gives the loss before."""
    del loss
    weight = scalar("weight")
    loss = weight * weight
    with tf.control_dependencies([minimize(loss)]):
        return tf.identity(loss)


def weight():
    (found,) = [each for each in tf1.global_variables() if each.op.name.endswith("weight")]
    return found.read_value()


@meeting
@pytest.mark.parametrize("cores", [1, 8])
def test_cores_train_in_a_loop(graph, meant, cores):
    (loss,) = tpu.shard(
        lambda: tpu.repeat(2, square, [1e7]), num_shards=cores, outputs_from_all_shards=False
    )
    close([graph.run(loss) for _ in range(2)], [0.8**2, 0.8**6])
    close(graph.run(weight()), 0.8**4)
    assert graph.run(tf1.train.get_global_step()) == 4


@meeting
def test_a_loop_around_a_loop_and_ops_around_it(graph, meant):
    def computation(x):
        with tf1.variable_scope("inner"):
            before = tpu.cross_replica_sum(x)
            (loss,) = tpu.repeat(3, lambda loss: tpu.repeat(2, square, [loss]), [before])
        return x, before, tpu.cross_replica_sum(loss)

    rows = tpu.replicate(computation, [[float(i)] for i in range(4)])
    close(graph.run(rows), [[float(i), 6.0, 4 * 0.8**10] for i in range(4)])
    assert [each.op.name for each in tf1.trainable_variables()] == ["inner/weight"]


@meeting
def test_each_core_carries_its_own_values(graph, meant):
    def body(i, mine, total):
        return i + 1, mine * 2.0, total + tpu.cross_replica_sum(mine), tf.no_op()

    rows = tpu.replicate(
        lambda x: tpu.repeat(3, body, [0, x, tf.zeros([])]), [[float(i)] for i in range(4)]
    )
    assert graph.run(rows) == [[3, i * 8.0, 6.0 * 7] for i in range(4)]


@meeting
def test_a_loop_of_one_core_while_a_condition_holds(graph, meant):
    ends = tpu.rewrite(
        lambda: [
            tpu.while_loop(lambda i: i < 3, lambda i: i + tpu.cross_replica_sum(i * 0 + 1), [0])
        ]
    )
    assert graph.run(ends) == [3]


@meeting
@pytest.mark.parametrize("loop", ["repeat", "while_loop"])
def test_the_body_sees_each_cores_own_tensors(graph, meant, loop):
    """Those of the computation around it, and of a loop around it."""

    def computation(x):
        twice = 2.0 * x

        def body(i, total):
            def inner(sum_):
                return sum_ + tpu.cross_replica_sum(x) + total + twice + x

            return i + 1, tpu.repeat(1, inner, [tf.zeros([])])[0]

        if loop == "repeat":
            return tpu.repeat(2, body, [0, x])
        return tpu.while_loop(lambda i, unused: i < 2 + 0 * tf.cast(x, tf.int32), body, [0, x])

    rows = tpu.replicate(computation, [[float(i)] for i in range(4)])
    close(graph.run(rows), [[2, 12.0 + 7 * i] for i in range(4)])


@meeting
@pytest.mark.parametrize("number", [0, 5])
def test_the_number_of_steps_may_be_a_tensor_or_none(graph, meant, number):
    for n in (number, tf.constant(number)):
        rows = tpu.replicate(
            lambda n=n: tpu.repeat(n, lambda i: i + tpu.cross_replica_sum(1), [0]), [[]] * 2
        )
        assert graph.run(rows) == [[2 * number]] * 2


@meeting
def test_a_loop_without_values_is_an_op(graph, meant):
    def body():
        return minimize(scalar("weight"), 1.0)

    ops = tpu.replicate(lambda: tpu.repeat(3, body), [[]] * 2)
    graph.run(ops)
    assert graph.run(weight()) == -2.0


@meeting
def test_a_loop_while_a_condition_holds(graph, meant):
    def body(i, loss):
        return i + 1, square(loss)

    rows = tpu.replicate(
        lambda: tpu.while_loop(lambda i, loss: tf.logical_and(i < 9, loss > 0.1), body, [0, 1e7]),
        [[]] * 4,
    )
    close(graph.run(rows), [[7, 0.8**12]] * 4)
    close(graph.run(weight()), 0.8**7)


def test_cores_that_do_not_meet_take_as_many_steps_as_they_like(graph, meant):
    rows = tpu.replicate(
        lambda n: [tpu.while_loop(lambda i: i < n, lambda i: i + 2, [0])], [[i] for i in range(5)]
    )
    assert graph.run(rows) == [[0], [2], [2], [4], [4]]


@meeting
def test_cores_that_meet_agree_on_the_number_of_steps(graph, meant):
    rows = tpu.replicate(
        lambda n: [
            tpu.while_loop(lambda i: i < n, lambda i: i + tpu.cross_replica_sum(i * 0 + 1), [0])
        ],
        [[1], [4]],
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="differs among .*Instead:"):
        graph.run(rows)


@pytest.mark.parametrize("body", [lambda x: tf.cast(x, tf.int32), lambda x: (x, x)])
def test_a_body_that_returns_something_else(graph, meant, body):
    with pytest.raises(TypeError, match="input types and output types|takes in the next step"):
        tpu.rewrite(lambda: tpu.repeat(2, body, [1.0]))


@pytest.fixture
def threads():
    """Starts functions in threads, and waits for them."""
    started = []

    def start(fn):
        started.append(threading.Thread(target=fn, daemon=True))
        started[-1].start()
        return started[-1]

    yield start
    for thread in started:
        thread.join(60)
        assert not thread.is_alive()


def session_of(build):
    """A Session of a graph of its own, and what `build` made there."""
    with tf.Graph().as_default() as own:
        built = build()
    return tf1.Session(graph=own), built


@meeting
def test_one_session_feeds_what_another_ones_loop_takes(graph, meant, threads):
    """More than the infeed holds, so that each waits for the other."""

    def body(total):
        (x,) = tpu.infeed_dequeue_tuple([tf.float32], [[2]])
        with tf.control_dependencies([tpu.outfeed_enqueue(tf.reduce_sum(x))]):
            return total + tpu.cross_replica_sum(x)

    def read():
        return [tpu.outfeed_dequeue(tf.float32, [], device_ordinal=core) for core in range(4)]

    def enqueue():
        fed = tf1.placeholder(tf.float32, [2])
        return fed, [tpu.infeed_enqueue(fed + core, [2], device_ordinal=core) for core in range(4)]

    (total,) = tpu.shard(
        lambda: tpu.repeat(30, body, [tf.zeros([2])]), num_shards=4, outputs_from_all_shards=False
    )
    sender, (fed, sent) = session_of(enqueue)
    reader, received = session_of(read)
    losses = []

    def send():
        for step in range(30):
            sender.run(sent, {fed: [step, 1.0]})

    threads(send)
    reading = threads(lambda: losses.extend(reader.run(received) for _ in range(30)))
    steps = np.arange(30.0)
    close(graph.run(total), [np.sum(4 * steps + 6), 30 * 10.0])
    reading.join(60)
    close(losses, [[step + 1.0 + 2 * core for core in range(4)] for step in range(30)])


@meeting
@pytest.mark.parametrize("takes", ["computation", "loop", "body"])
def test_an_infeed_queue(graph, meant, takes):
    queue = tpu.InfeedQueue(tuple_types=[tf.int32, tf.float32], tuple_shapes=[[4], [4, 3]])
    queue.set_number_of_shards(4)

    def add(total, i, x):
        return total + tpu.cross_replica_sum(tf.cast(i, tf.float32) * x)

    def body(total):
        return add(total, *queue.generate_dequeue_op())

    start = tf.zeros([1, 3])
    computations = {
        "computation": (lambda i, x: [add(start, i, x)], queue),
        "loop": (lambda: tpu.repeat(1, add, [start], queue), None),
        "body": (lambda: tpu.while_loop(lambda t: t[0, 0] < 1, body, [start]), None),
    }
    computation, fed = computations[takes]
    (total,) = tpu.shard(computation, num_shards=4, infeed_queue=fed, outputs_from_all_shards=False)
    numbers, rows = np.arange(4, dtype=np.int32), np.arange(12.0).reshape(4, 3)
    inputs = [tf.constant(numbers), tf.constant(rows, tf.float32)]
    sent = queue.split_inputs_and_generate_enqueue_ops(inputs)
    assert len(sent) == 4
    graph.run(sent)
    close(graph.run(total), [numbers.dot(rows)])


@pytest.mark.skipif(versions.TRACES_AS_FIRST, reason="TensorFlow 1.13 refuses it")
def test_before_1_14_cores_that_meet_in_a_loop_are_refused(graph, meant):
    with pytest.raises(ContextError, match=r"before TensorFlow 1\.14 in any.*or TensorFlow 1\.15"):
        tpu.shard(lambda: tpu.repeat(2, square, [1e7]), num_shards=8)


def test_an_ordinal_that_no_core_has(graph, meant):
    for call in (
        lambda: tpu.infeed_enqueue(1.0, [], device_ordinal=8),
        lambda: tpu.outfeed_dequeue(tf.float32, [], device_ordinal=8),
    ):
        with pytest.raises(ArgumentError, match="device_ordinal=8.*from 0 to 7"):
            call()


@pytest.mark.parametrize("name", ["infeed_dequeue", "outfeed_enqueue"])
def test_what_a_core_does_is_refused_outside_of_it(graph, meant, name):
    with pytest.raises(ContextError, match="tpu.%s was called outside of a replica" % name):
        getattr(tpu, name)(tf.float32, []) if "in" in name[:2] else getattr(tpu, name)(1.0)


def test_other_types_than_were_sent(graph, meant):
    (taken,) = tpu.rewrite(lambda: tpu.infeed_dequeue(tf.int32, [2]))
    graph.run(tpu.infeed_enqueue(1.0, [], device_ordinal=0))
    with pytest.raises(tf.errors.OpError, match=r"takes int32\[2\].*is float32\[\].*Instead:"):
        graph.run(taken)


def test_a_start_of_the_system_empties_the_feeds(graph, meant):
    (taken,) = tpu.rewrite(lambda: tpu.infeed_dequeue(tf.float32, []))
    send = [tpu.infeed_enqueue(x, [], device_ordinal=0) for x in (1.0, 2.0)]
    graph.run(send[0])
    graph.run(tpu.initialize_system())
    graph.run(send[1])
    assert graph.run(taken) == 2.0


@meeting
def test_a_program_of_such_a_loop_runs_as_it_is(tmp_path):
    """The gradient of w * w is 2 w on each core, and the mean of it is taken off four times."""
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    command = [sys.executable, "-m", "tpudist", "run", "--tpu", "virtual:8", str(script)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert float(done.stdout.split()[-1]) == pytest.approx(0.8**4)


PROGRAM = """
import tensorflow as tf
from tensorflow.contrib import tpu


def step():
    weight = tf.get_variable("weight", initializer=1.0, use_resource=True)
    optimizer = tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
    return optimizer.minimize(weight * weight)


resolver = tf.contrib.cluster_resolver.TPUClusterResolver("a-tpu")
loop = tpu.shard(lambda: tpu.repeat(2, step), num_shards=8)
with tf.Session(resolver.get_master()) as session:
    session.run(tpu.initialize_system())
    session.run(tf.global_variables_initializer())
    for _ in range(2):
        session.run(loop)
    print(session.run(tf.trainable_variables()[0]))
"""


def test_native_operations_of_a_real_tpu(graph, real):
    queue = tpu.InfeedQueue(1)
    queue.generate_enqueue_ops([[tf.zeros([2])]] * 2, tpu_ordinal_function=lambda core: core)
    tpu.outfeed_dequeue_tuple([tf.float32], [[]], device_ordinal=0)

    def body():
        return tpu.outfeed_enqueue_tuple([queue.generate_dequeue_op()[0]])

    tpu.replicate(lambda: tpu.repeat(2, body), [[]] * 2)
    ops = tf1.get_default_graph().get_operations()
    kinds = {op.type for op in ops} | {
        node.op
        for function in tf1.get_default_graph().as_graph_def().library.function
        for node in function.node_def
    }
    assert {"InfeedEnqueueTuple", "InfeedDequeueTuple"} <= kinds
    assert {"OutfeedEnqueueTuple", "OutfeedDequeueTuple"} <= kinds
