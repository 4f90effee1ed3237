"""``tf.contrib.distribute.Monitor`` and the steps it runs, in the form of 1.15."""

import numpy as np
import pytest

from tests.dropin.harness import drop_in

tf = pytest.importorskip("tensorflow")

from tpudist.tfcompat import versions  # noqa: E402

tf1 = tf.compat.v1


def test_a_step_with_one_loss_adds_the_towers_gradients(monkeypatch):
    monkeypatch.setenv("TPUDIST_TPU", "virtual:4")
    contrib = drop_in("contrib").contrib
    rows = np.arange(1.0, 9.0, dtype=np.float32)
    in_a_minute = tf1.ConfigProto(operation_timeout_in_ms=60000)
    with tf.Graph().as_default(), tf1.Session(config=in_a_minute) as session:
        resolver = contrib.cluster_resolver.TPUClusterResolver("any")
        contrib.distribute.initialize_tpu_system(resolver)
        strategy = contrib.distribute.TPUStrategy(resolver)
        with strategy.scope():
            weight = tf1.get_variable("weight", initializer=1.0, use_resource=True)

        def loss_fn(ctx, *inputs):
            del ctx
            inputs = inputs[0] if isinstance(inputs[0], tuple) else inputs  # since 1.14
            return tf.reduce_mean(inputs[0] * inputs[1]) * weight

        def dataset_fn():
            pairs = (rows, np.ones_like(rows))
            return tf.data.Dataset.from_tensor_slices(pairs).batch(1, drop_remainder=True)

        step = contrib.distribute.StandardSingleLossStep(
            dataset_fn, loss_fn, tf1.train.GradientDescentOptimizer(0.1), strategy
        )
        monitor = contrib.distribute.Monitor(step, session)
        monitor.run_steps(2)
        np.testing.assert_allclose(session.run(weight), 1 - 0.1 * rows.sum(), 1e-6)
        monitor.run_steps()  # The data have ended.
        np.testing.assert_allclose(session.run(weight), 1 - 0.1 * rows.sum(), 1e-6)


def test_which_session_it_needs():
    monitor = drop_in("contrib").contrib.distribute.Monitor
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Should provide"):
        monitor(lambda: None)
    if versions.TF2:
        with tf1.Session(graph=tf.Graph()) as session:
            pass
        with pytest.raises(ValueError, match="Should not provide"):
            monitor(lambda: None, session)


@pytest.mark.skipif(not versions.TF2, reason="eager execution is for a whole process on TF 1")
def test_eager_steps_until_the_end():
    def step():
        taken.append(1)
        if len(taken) > 5:
            raise tf.errors.OutOfRangeError(None, None, "the end")

    taken, monitor = [], drop_in("contrib").contrib.distribute.Monitor
    monitor(step).run_steps(2)
    assert len(taken) == 2
    monitor(step).run_steps()
    assert len(taken) == 6
