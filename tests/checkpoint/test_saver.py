"""tf.compat.v1.train.Saver in a graph with a Session, and back."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf

from tpudist import errors
from tpudist.contrib.cluster_resolver import TPUClusterResolver
from tpudist.contrib.strategy import TPUStrategy
from tpudist.virtual.variables import splits

tf1 = tf.compat.v1
MOVES = [(8, 0), (8, 1), (8, 2), (0, 8), (2, 8)]


class Job:
    """A graph with a trained variable, a counter and an average.

    Attributes:
      towers: how many; 1 without a strategy.
    """

    def __init__(self, towers):
        self.towers = max(towers, 1)
        self.strategy = towers and TPUStrategy(
            TPUClusterResolver("virtual:%d" % towers), steps_per_run=1
        )
        with self.strategy.scope() if towers else contextlib.nullcontext():
            self._build()
        self.saver = tf1.train.Saver()
        self.session = tf1.Session()
        self.session.run(tf1.global_variables_initializer())

    def _build(self):
        self.weight = tf1.get_variable(
            "weight",
            initializer=[1.0, 2.0],
            use_resource=True,
            aggregation=tf1.VariableAggregation.MEAN,
        )
        self.counter, self.average = (
            tf1.get_variable(
                name,
                initializer=0.0,
                trainable=False,
                use_resource=True,
                synchronization=tf1.VariableSynchronization.ON_READ,
                aggregation=aggregation,
            )
            for name, aggregation in [
                ("counter", tf1.VariableAggregation.SUM),
                ("average", tf1.VariableAggregation.MEAN),
            ]
        )
        self.optimizer = tf1.train.MomentumOptimizer(0.1, 0.9)
        if self.strategy:
            result = self.strategy.call_for_each_tower(self._tower)
            self.train = tf.group(*self.strategy.unwrap(result))
            self.totals = [
                self.strategy.read_var(variable) for variable in (self.counter, self.average)
            ]
        else:
            self.train = self._tower()
            self.totals = [self.counter.read_value(), self.average.read_value()]

    def _tower(self):
        # The gradients of all towers sum to 2 x (weight - 5).
        gradient = 2.0 * (self.weight - 5.0) / self.towers
        number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        applied = self.optimizer.apply_gradients([(gradient, self.weight)])
        with tf.control_dependencies([applied]):
            counted = self.counter.assign_add(number + 1.0)
            averaged = self.average.assign_add(number + 1.0)
        with tf.control_dependencies([counted, averaged]):
            return tf.constant(0.0)

    def step(self):
        """Trains a step; the weight after it."""
        self.session.run(self.train)
        return self.values()

    def values(self):
        """The weight, and counter and average over all towers."""
        weight, totals = self.session.run([self.weight, self.totals])
        return np.concatenate([weight, totals])


@contextlib.contextmanager
def job(towers):
    with tf.Graph().as_default():
        made = Job(towers)
        with made.session:
            yield made


@pytest.mark.parametrize(("source", "target"), MOVES)
def test_training_goes_on(tmp_path, source, target):
    with job(source) as first:
        first.step()
        saved = first.step()
        path = first.saver.save(first.session, str(tmp_path / "model"))
        expected = first.step()[:2]
    total = 2 * sum(range(1, max(source, 1) + 1))
    np.testing.assert_allclose(saved[2:], [total, total / float(max(source, 1))])
    with job(target) as second:
        second.step()
        second.saver.restore(second.session, path)
        np.testing.assert_allclose(second.values(), saved, 1e-6)
        # The momentum was restored too.
        np.testing.assert_allclose(second.step()[:2], expected, 1e-5)


def test_names_are_those_of_plain_tensorflow(tmp_path):
    def written(towers):
        with job(towers) as made:
            made.step()
            (tmp_path / str(towers)).mkdir()
            return tf.train.list_variables(
                made.saver.save(made.session, str(tmp_path / str(towers) / "model"))
            )

    assert (
        written(8)
        == written(2)
        == written(0)
        == [("average", []), ("counter", []), ("weight", [2]), ("weight/Momentum", [2])]
    )


@pytest.mark.parametrize("in_scope", [False, True])
def test_a_saver_of_named_variables(tmp_path, in_scope):
    def saver(made):
        with made.strategy.scope() if in_scope else contextlib.nullcontext():
            return tf1.train.Saver({"old/name": made.weight})

    with job(8) as first:
        saved = first.step()
        path = saver(first).save(first.session, str(tmp_path / "model"))
    assert tf.train.list_variables(path) == [("old/name", [2])]
    with job(2) as second:
        saver(second).restore(second.session, path)
        np.testing.assert_allclose(second.values()[:2], saved[:2])


def test_a_variable_of_which_towers_have_copies_has_no_name():
    """Its read is no variable: a Saver would restore the first copy alone."""
    with tf.Graph().as_default():
        strategy = TPUStrategy(TPUClusterResolver("virtual:2"))
        with strategy.scope():
            own = tf1.get_variable("own", initializer=0.0, trainable=False)
        if hasattr(type(own), "__tf_tensor__"):
            pytest.skip("TensorFlow does not tell the variable that a Saver asks")
        splits.split(own)
        with pytest.raises(errors.ContextError, match="a copy"):
            tf1.train.Saver({"name": own})
