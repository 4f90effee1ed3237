"""A read comes before the write that follows it, however each of them is made.

TensorFlow puts the ops of functions and branches in place of their calls, so that only
control dependencies keep the two in order. Each program runs several times: an order
that is left open comes out right now and then.
"""

import pytest
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

CORES, TIMES = 2, 6

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not versions.TF2, reason="branches and loops of functions are ops of TensorFlow 2"
    ),
]


def _function(read):
    return tf.function(read)()


def _branch(read):
    return tf.cond(tf.reduce_sum(tf.ones([2])) > 0.0, read, lambda: 0.0)


def _loop(read):
    return tf.while_loop(lambda i, _: i < 2, lambda i, _: (i + 1, read()), [0, 0.0])[1]


def _map(read):
    return tf.map_fn(lambda _: read(), tf.zeros([2]))[0]


#: How a value is read: from the function that reads it to the value.
READS = {
    "plain": lambda read: read(),
    "function": _function,
    "branch": _branch,
    "loop": _loop,
    "map": _map,
}


def _given(write, value):
    """A function that is called with a value that it does not need to write."""

    @tf.function
    def called(x):
        write()
        return x + 1.0

    called(value)


def _written_in_a_branch(write, unused_value):
    def branch():
        write()
        return 1.0

    tf.cond(tf.reduce_sum(tf.ones([2])) > 0.0, branch, lambda: 0.0)


def _written_in_a_loop(write, unused_value):
    def body(i):
        write()
        return i + 1

    tf.while_loop(lambda i: i < 1, body, [0])


#: How a value is written: from the function that writes it and what was read.
WRITES = {
    "plain": lambda write, _: write(),
    "function": lambda write, _: tf.function(write)(),
    "function of the value": _given,
    "branch": _written_in_a_branch,
    "loop": _written_in_a_loop,
}


@pytest.mark.parametrize("written", sorted(WRITES))
@pytest.mark.parametrize("read", sorted(READS))
@pytest.mark.parametrize("whose", ["the strategy's", "another's"])
def test_a_read_before_a_write(whose, read, written):
    if whose != "another's" and not versions.ASSIGN_WITHOUT_AGGREGATION:
        pytest.skip("until 2.2 a replica function assigns with an aggregation only")
    if read in ("function", "branch") and not (versions.BY_DEVICE or versions.TRACE_ONCE):
        pytest.skip("TensorFlow 2.2 and 2.3 lose this order themselves, without a strategy")
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))
    if whose == "another's":
        variable = tf.Variable([0.0, 0.0])
    else:
        with strategy.scope():
            variable = tf.Variable([0.0, 0.0])

    def write():
        variable.assign_add([-1.0, 0.0])

    def total():
        return tf.reduce_sum(variable.read_value())

    def replica():
        before = READS[read](total)
        WRITES[written](write, before)
        between = READS[read](total)
        WRITES[written](write, between)
        return before, between, READS[read](total)

    step, seen = tf.function(lambda: strategy.run(replica)), set()
    for _ in range(TIMES):
        for part in strategy.experimental_local_results(variable):
            part.assign([0.0, 0.0])
        found = [strategy.experimental_local_results(each) for each in step()]
        seen.add(tuple(float(part) for parts in zip(*found) for part in parts))
    if whose == "another's":  # one replica after the other
        assert seen == {(0.0, -1.0, -2.0, -2.0, -3.0, -4.0)}
    else:
        assert seen == {(0.0, -1.0, -2.0) * CORES}
