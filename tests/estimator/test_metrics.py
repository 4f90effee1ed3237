"""Every function of ``tf.metrics`` in an Estimator's evaluation, against one device.

A metric is a sum over rows, so that the towers' rows give the same numbers as one device's.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.examples import running
from tests.helpers import cores
from tpudist import estimator
from tpudist.contrib.distribute import TPUStrategy
from tpudist.system.cluster import TPUClusterResolver
from tpudist.v2_2 import strategy as v2_2

tf1 = tf.compat.v1

ROWS, BATCH = 40, 5
X = np.random.RandomState(0).randn(ROWS, 3).astype(np.float32)
THRESHOLDS = [0.25, 0.5, 0.75]


def of_pairs(names):
    """Metrics of (labels, predictions)."""
    return {
        name: lambda c, name=name: getattr(tf1.metrics, name)(c.truth, c.guess) for name in names
    }


#: {function of tf.metrics: makes the metric of a `Columns`}
METRICS = {
    **of_pairs(
        "accuracy false_negatives false_positives precision recall true_negatives "
        "true_positives".split()
    ),
    "auc": lambda c: tf1.metrics.auc(c.truth, c.chance),
    "average_precision_at_k": lambda c: tf1.metrics.average_precision_at_k(c.kind, c.scores, 2),
    "mean": lambda c: tf1.metrics.mean(c.number),
    "mean_absolute_error": lambda c: tf1.metrics.mean_absolute_error(c.truth, c.number),
    "mean_cosine_distance": lambda c: tf1.metrics.mean_cosine_distance(c.unit, c.other, 1),
    "mean_iou": lambda c: tf1.metrics.mean_iou(c.truth, c.guess, 2),
    "mean_per_class_accuracy": lambda c: tf1.metrics.mean_per_class_accuracy(c.truth, c.guess, 2),
    "mean_relative_error": lambda c: tf1.metrics.mean_relative_error(
        c.truth, c.number, 1 + c.truth
    ),
    "mean_squared_error": lambda c: tf1.metrics.mean_squared_error(c.truth, c.number),
    "mean_tensor": lambda c: tf1.metrics.mean_tensor(
        tf.stack([tf.reduce_mean(c.number), tf.reduce_mean(c.chance)])
    ),
    "percentage_below": lambda c: tf1.metrics.percentage_below(c.number, 0.1),
    "precision_at_k": lambda c: tf1.metrics.precision_at_k(c.kind, c.scores, 2),
    "precision_at_top_k": lambda c: tf1.metrics.precision_at_top_k(c.kind, c.best, 1),
    "recall_at_k": lambda c: tf1.metrics.recall_at_k(c.kind, c.scores, 2),
    "recall_at_top_k": lambda c: tf1.metrics.recall_at_top_k(c.kind, c.best, 1),
    "root_mean_squared_error": lambda c: tf1.metrics.root_mean_squared_error(c.truth, c.number),
    "sensitivity_at_specificity": lambda c: tf1.metrics.sensitivity_at_specificity(
        c.truth, c.chance, 0.5
    ),
    "specificity_at_sensitivity": lambda c: tf1.metrics.specificity_at_sensitivity(
        c.truth, c.chance, 0.5
    ),
    "sparse_average_precision_at_k": lambda c: tf1.metrics.sparse_average_precision_at_k(
        c.kind, c.scores, 2
    ),
    "sparse_precision_at_k": lambda c: tf1.metrics.sparse_precision_at_k(c.kind, c.scores, 2),
    **{
        name: lambda c, name=name: getattr(tf1.metrics, name)(c.truth, c.chance, THRESHOLDS)
        for name in (
            "false_negatives_at_thresholds false_positives_at_thresholds "
            "precision_at_thresholds recall_at_thresholds true_negatives_at_thresholds "
            "true_positives_at_thresholds"
        ).split()
    },
}


#: Those that TensorFlow 1.15's MirroredStrategy refuses as well: the replicas' threads would have
#: to make variables of one name, and these name theirs by the scope that each is in.
REFUSED = {
    "average_precision_at_k",
    "precision_at_k",
    "precision_at_top_k",
    "recall_at_k",
    "recall_at_top_k",
    "sparse_average_precision_at_k",
    "sparse_precision_at_k",
}


class Columns:
    """What metrics are of: truth and guess (0 or 1), a chance, numbers, kinds with scores."""

    def __init__(self, features, labels):
        self.truth = tf.cast(labels > 0.3, tf.float32)
        self.number = tf.reduce_sum(features, 1)
        self.guess = tf.cast(self.number > 0, tf.float32)
        self.chance = tf.sigmoid(self.number)
        self.kind = tf.cast(tf.argmax(tf.abs(features), 1), tf.int64)[:, None]
        self.scores = features
        self.best = tf.cast(tf.argmax(features, 1), tf.int64)[:, None]
        self.unit = tf.nn.l2_normalize(features, 1)
        self.other = tf.nn.l2_normalize(features + 1, 1)


def model_fn(features, labels, mode, params):
    columns = Columns(features, labels)
    weight = tf1.get_variable("w", [], initializer=tf1.ones_initializer())
    loss = tf1.losses.mean_squared_error(columns.truth, weight * columns.number)
    optimizer = tf1.train.GradientDescentOptimizer(0.0)
    has_metrics = mode == "eval" or params["in_training"]
    return estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, tf1.train.get_global_step()),
        eval_metric_ops={name: METRICS[name](columns) for name in params["names"] if has_metrics},
    )


def evaluated(path, batch, names, in_training=True, **strategies):
    def input_fn():
        return tf.data.Dataset.from_tensor_slices((X, X[:, 0])).batch(batch, drop_remainder=True)

    config = estimator.RunConfig(model_dir=str(path), **strategies)
    params = {"names": names, "in_training": in_training}
    est = estimator.Estimator(model_fn, config=config, params=params)
    est.train(input_fn, steps=1)
    return est.evaluate(input_fn)


SURFACES = {"contrib": TPUStrategy, "2.2": v2_2.TPUStrategy}


def compare(path, surface, modes, names, count=2):
    strategy = SURFACES[surface](TPUClusterResolver(cores.named("virtual:%d" % count)))
    strategies = {mode + "_distribute": strategy for mode in modes.split()}
    expected = evaluated(path / "one", BATCH * count, names)
    # On devices a variable is TensorFlow's own, whose assignment is no value of the step's graph.
    found = evaluated(path / "many", BATCH, names, not cores.KIND, **strategies)
    assert sorted(found) == sorted(expected)
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], 1e-5, 1e-6, err_msg=name)


def test_counts_and_ratios_of_counts(tmp_path):
    names = ["true_positives", "precision", "mean_iou", "accuracy"]
    compare(tmp_path, "contrib", "train eval", names)


def test_training_on_one_device_and_evaluation_on_replicas(tmp_path):
    compare(tmp_path, "2.2", "eval", ["recall", "mean"])


@pytest.mark.slow
def test_an_assignment_as_a_metric_in_training_on_devices_is_explained(tmp_path):
    program = (
        "import pathlib; from tests.estimator.test_metrics import *;"
        "strategy = TPUStrategy(TPUClusterResolver('cpus:2'));"
        "evaluated(pathlib.Path(%r), BATCH, ['mean_iou'], train_distribute=strategy)"
    )
    done = running.python("-c", program % str(tmp_path), cwd=running.ROOT)
    assert "ArgumentError" in done.stderr
    assert "make eval_metric_ops only where mode is" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("modes", ["eval", "train eval"])
@pytest.mark.parametrize("surface", sorted(SURFACES))
def test_every_metric(tmp_path, surface, modes):
    compare(tmp_path, surface, modes, sorted(set(METRICS) - REFUSED))


def test_every_metric_has_a_case():
    names = {name for name in dir(tf1.metrics) if not name.startswith("_")}
    assert names == set(METRICS)
