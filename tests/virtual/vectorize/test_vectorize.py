"""``TPUDIST_VECTORIZE=0`` does every op once per replica: the same numbers, by another way."""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual.harness import CORES, SUM, graph, make, run, shares
from tpudist import machine
from tpudist.tfcompat import versions

pytestmark = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 replicas are traced one by one"
)


def step(strategy):
    """A step with a product, a loop, an all-reduce and a variable of each replica's own."""
    with strategy.scope():
        seen = tf.Variable(
            [0.0, 0.0],
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def replica(x):
        y = tf.matmul(x, x, transpose_b=True)
        y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y)), (0, y))[1]
        seen.assign_add(tf.reduce_sum(y, 0))
        total = tf.distribute.get_replica_context().all_reduce(SUM, y)
        return total - y, seen.read_value()

    return replica


@pytest.mark.parametrize(("switch", "share"), [("0", 0.0), ("1", 1.0)])
def test_the_switch_decides_how_ops_are_done(monkeypatch, switch, share):
    monkeypatch.setenv(machine.VECTORIZE, switch)
    strategy = make()
    with_all = graph(lambda x: strategy.run(lambda x: tf.tanh(x) @ x, args=(x,)))
    with_all(tf.constant(shares(4, 4)[0]))
    (explanation,) = strategy.extended.explanations
    assert explanation.share == share
    assert ("%s=0" % machine.VECTORIZE in str(explanation)) == (switch == "0")


def test_both_ways_give_the_same_numbers(monkeypatch):
    values, results = shares(2, 3), []
    for switch in ("0", "1"):
        monkeypatch.setenv(machine.VECTORIZE, switch)
        strategy = make()
        results.append(run(strategy, step(strategy), values))
    assert len(results[0]) == CORES
    for one, other in zip(*results):
        for left, right in zip(one, other):
            np.testing.assert_allclose(left, right, rtol=1e-6)
