"""No call of the replicas waits for the second that TensorFlow sleeps if a thread goes on."""

import pytest
import tensorflow as tf
from tensorflow.python.training import coordinator

from tests.contrib import harness
from tpudist import v2_0
from tpudist.tfcompat import versions


@pytest.fixture
def running(monkeypatch):
    """How many of a call's threads had not ended when TensorFlow joined them, by call."""
    found, join = [], coordinator.Coordinator.join

    def counted(self, threads=None, **kwargs):
        found.append(sum(thread.is_alive() for thread in threads))
        return join(self, threads, **kwargs)

    monkeypatch.setattr(coordinator.Coordinator, "join", counted)
    return found


@pytest.mark.parametrize("name", harness.MODES)
def test_replicas_threads_have_ended_when_they_are_joined(name, running):
    with harness.enter(name) as mode:
        strategy = harness.strategy_of(2)
        with strategy.scope():
            for number in range(8):
                called = strategy.call_for_each_tower(lambda n=number: tf.constant(1.0) + n)
                assert [float(mode.run(each)) for each in strategy.unwrap(called)] == [
                    1.0 + number
                ] * 2
    assert not any(running)


@pytest.mark.skipif(not versions.TF2, reason="tf.function is TensorFlow 2's")
def test_replicas_threads_of_functions_have_ended_when_they_are_joined(running):
    strategy = v2_0.TPUStrategy(v2_0.TPUClusterResolver("virtual:2"))
    for number in range(8):
        step = tf.function(lambda n=number: strategy.experimental_run_v2(lambda: tf.constant(n)))
        assert [int(n) for n in strategy.experimental_local_results(step())] == [number] * 2
    assert not any(running)


@pytest.mark.parametrize("failing", [0, 1])
def test_a_replica_that_fails_says_so(failing, running):
    calls = []

    def step():
        calls.append(None)
        if len(calls) == failing + 1:
            raise KeyError("this replica's own")
        return tf.constant(1.0)

    with harness.enter("eager"):
        strategy = harness.strategy_of(2)
        with strategy.scope(), pytest.raises(KeyError, match="this replica's own"):
            strategy.call_for_each_tower(step)
    assert len(running) == 1 and len(calls) == failing + 1
