"""A step whose replicas meet twice, as ``tpudist run --explain`` describes it."""

import pytest
import tensorflow as tf

from tests.helpers import v2_behavior  # noqa: F401 (it switches)
from tests.virtual import harness
from tpudist import machine
from tpudist.legacy import explain
from tpudist.tfcompat import versions
from tpudist.virtual import explanations


def step(x, kernel):
    """A function of a replica, which a TPU would refuse."""
    context = tf.distribute.get_replica_context()
    product = (x * tf.cast(context.replica_id_in_sync_group, tf.float32)) @ kernel
    total = context.all_reduce("SUM", product)
    length = tf.strings.length(tf.strings.as_string(product[0, 0]))
    return context.all_reduce("SUM", tf.cast(length, tf.float32) + tf.reduce_sum(total))


def explained(fn, *args):
    """What is told of a replica function on four cores: a list with one dict."""
    if not versions.TRACE_ONCE:
        pytest.skip(harness.TRACED_PER_REPLICA)
    strategy = harness.make()
    with explanations.recording() as recorded:
        harness.graph(lambda: strategy.run(fn, args))()
    return [explain.as_dict(each) for each in explanations.each_once(recorded)]


@pytest.fixture
def steps(monkeypatch):
    """What is told of :func:`step`, each core with 5 rows."""
    monkeypatch.setenv(machine.TPU_CHECK, "warn")
    return explained(step, tf.ones([5, 3]), tf.ones([3, 2]))
