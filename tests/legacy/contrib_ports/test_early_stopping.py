"""The early stopping hooks of ``tf.contrib.estimator``, which 1.15 had elsewhere."""

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tpudist import estimator  # noqa: E402
from tpudist.contrib import tensorflow as contrib  # noqa: E402

tf1 = tf.compat.v1
EVERY_STEP = dict(run_every_secs=None, run_every_steps=1)


def model_fn(features, labels, mode):
    """The metric is |step - 6| of the global step: it sinks, and then it grows."""
    step = tf.cast(tf1.train.get_or_create_global_step(), tf.float32)
    weight = tf1.get_variable("w", [], initializer=tf1.zeros_initializer())
    loss = tf.reduce_mean(features) * weight
    train_op = tf1.assign_add(tf1.train.get_global_step(), 1)
    metric = tf1.metrics.mean(tf.abs(step - 6.0))
    return estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"far": metric}
    )


def input_fn():
    rows = np.ones([4, 1], np.float32)
    return tf.data.Dataset.from_tensor_slices((rows, rows)).repeat().batch(2)


#: {hook: (further arguments, the evaluation after which it stops a training evaluated every four
#: steps)}; the metric is 2, 2, 6, 10, ...
CASES = {
    "stop_if_lower_hook": ((3.0,), 4),
    "stop_if_higher_hook": ((5.0,), 12),
    "stop_if_no_decrease_hook": ((8,), 12),
    "stop_if_no_increase_hook": ((4,), 8),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_stops_where_the_metric_says(tmp_path, name):
    further, expected = CASES[name]
    config = estimator.RunConfig(model_dir=str(tmp_path))
    est = estimator.Estimator(model_fn, config=config)
    hook = getattr(contrib.contrib.estimator, name)(est, "far", *further, **EVERY_STEP)
    last = 0
    for until in range(4, 32, 4):
        est.train(input_fn, max_steps=until, hooks=[hook])
        step = int(est.get_variable_value("global_step"))
        if step < until:  # After a step or two: TensorFlow reads the step beside its count.
            break
        last = step
        est.evaluate(input_fn, steps=1)
    assert last == expected
