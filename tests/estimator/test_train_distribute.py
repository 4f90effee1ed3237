"""``RunConfig(train_distribute=TPUStrategy(...))`` trains an Estimator, on two surfaces."""

import numpy as np
import pytest
import tensorflow as tf

from tests.estimator import harness
from tpudist import estimator
from tpudist.contrib.distribute import TPUStrategy
from tpudist.system.cluster import TPUClusterResolver
from tpudist.v2_2 import strategy as v2_2

tf1 = tf.compat.v1

STRATEGIES = {
    "contrib": lambda: TPUStrategy(TPUClusterResolver("virtual:8"), steps_per_run=4),
    "2.2": lambda: v2_2.TPUStrategy(TPUClusterResolver("virtual:8")),
}


def input_fn(mode):
    dataset = tf.data.Dataset.from_tensor_slices(({"x": harness.X}, harness.Y))
    return (dataset.repeat() if mode == "train" else dataset).batch(2, drop_remainder=True)


def model_fn(features, labels, mode):
    value = harness.linear(features)
    if mode == "infer":
        return estimator.EstimatorSpec(mode, predictions={"value": value})
    loss = tf1.losses.mean_squared_error(labels, value)
    if mode == "eval":
        metrics = {"root": tf1.metrics.root_mean_squared_error(labels, value)}
        return estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf1.train.MomentumOptimizer(harness.RATE, harness.MOMENTUM)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


@pytest.mark.slow
@pytest.mark.parametrize("surface", sorted(STRATEGIES))
def test_replicas_train_and_evaluate_the_model(tmp_path, surface):
    strategy = STRATEGIES[surface]()
    config = estimator.RunConfig(
        model_dir=str(tmp_path), train_distribute=strategy, eval_distribute=strategy
    )
    est, hook = estimator.Estimator(model_fn, config=config), harness.Losses()
    est.train(input_fn, max_steps=6, hooks=[hook])
    w, b, losses = harness.trained_by_numpy(6, 16)
    np.testing.assert_allclose(est.get_variable_value("linear/w"), w, rtol=1e-4)
    np.testing.assert_allclose(est.get_variable_value("linear/b"), b, rtol=1e-4)
    np.testing.assert_allclose(hook.losses[-1], losses[-1], rtol=1e-4)
    assert len(hook.losses) == (2 if surface == "contrib" else 6)
    results = est.evaluate(input_fn)
    error = ((harness.X.dot(w) + b - harness.Y) ** 2).mean()
    np.testing.assert_allclose([results["loss"], results["root"] ** 2], [error, error], rtol=1e-4)
    rows = list(est.predict(lambda: tf.data.Dataset.from_tensors({"x": harness.X[:3]})))
    np.testing.assert_allclose(
        [each["value"] for each in rows], harness.X[:3].dot(w) + b, rtol=1e-4
    )
