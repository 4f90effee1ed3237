"""Checkpoints are exchanged with TensorFlow 1.15's TPUEstimator and with plain graphs."""

import os
import shutil

import numpy as np
import pytest
import tensorflow as tf

from tests.estimator import harness
from tests.helpers import cores
from tests.helpers.generations import first_generation

tf1 = tf.compat.v1

#: Written after four steps of `harness` by 1.15's own ``TPUEstimator(use_tpu=False)``.
WRITTEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "model.ckpt-4")


def check_checkpoint(folder, steps):
    w, b, _ = harness.trained_by_numpy(steps, 16)
    for name, expected in (("linear/w", w), ("linear/b", b), ("global_step", steps)):
        saved = tf1.train.load_variable(str(folder), name)
        np.testing.assert_allclose(saved, expected, rtol=1e-4, atol=1e-6)


def test_training_continues_from_a_checkpoint_of_1_15(tmp_path):
    for end in (".index", ".data-00000-of-00001"):
        shutil.copy(WRITTEN + end, str(tmp_path))
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-4"\n')
    harness.estimator(tmp_path).train(harness.input_fn, max_steps=8)
    check_checkpoint(tmp_path, 8)


def test_a_checkpoint_equals_that_of_1_15(tmp_path):
    harness.estimator(tmp_path).train(harness.input_fn, max_steps=4)
    assert (tmp_path / "model.ckpt-4.data-00000-of-00001").exists()
    written, expected = [
        {name: tf1.train.load_variable(path, name) for name, _ in tf1.train.list_variables(path)}
        for path in (str(tmp_path / "model.ckpt-4"), WRITTEN)
    ]
    assert sorted(written) == sorted(expected)
    for name, value in expected.items():
        assert (written[name].dtype, written[name].shape) == (value.dtype, value.shape)
        np.testing.assert_allclose(written[name], value, rtol=1e-4, atol=1e-6)


@pytest.fixture
def plain():
    """Gives a training without an Estimator: (Session, its Saver, ``train(step)``)."""
    with tf.Graph().as_default(), tf1.Session() as session:
        step = tf1.train.create_global_step()
        x, y = tf1.placeholder(tf.float32, [16, 4]), tf1.placeholder(tf.float32, [16, 1])
        loss = tf.reduce_mean(tf.square(harness.linear({"x": x}) - y))
        optimizer = tf1.train.MomentumOptimizer(harness.RATE, harness.MOMENTUM)
        train_op = optimizer.minimize(loss, step)
        session.run(tf1.global_variables_initializer())

        def train(number):
            rows = np.arange(number * 16, number * 16 + 16) % len(harness.X)
            session.run(train_op, {x: harness.X[rows], y: harness.Y[rows]})

        yield session, tf1.train.Saver(), train


def test_training_continues_from_a_plain_graph_and_back(tmp_path, plain):
    session, saver, train = plain
    for number in range(4):
        train(number)
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=4)
    est = harness.estimator(tmp_path)
    est.train(harness.input_fn, max_steps=8)
    check_checkpoint(tmp_path, 8)
    saver.restore(session, est.latest_checkpoint())
    for number in range(8, 12):
        train(number)
    saver.save(session, str(tmp_path / "back" / "model.ckpt"), global_step=12)
    check_checkpoint(tmp_path / "back", 12)


def averaged(features, labels, mode, params):
    """Returns the model's specification, evaluated on moving averages of its variables."""
    spec = harness.model_fn(features, labels, mode, params)
    averages = tf1.train.ExponentialMovingAverage(0.5)
    names = tf1.trainable_variables()
    if mode == "train":
        with tf.control_dependencies([spec.train_op]):
            return spec._replace(train_op=averages.apply(names))
    restored = averages.variables_to_restore(names)
    return spec._replace(scaffold_fn=lambda: tf1.train.Scaffold(saver=tf1.train.Saver(restored)))


class NamesHook(tf1.train.SessionRunHook):
    """Restores variables through a Saver by names, as hooks of image models do."""

    def __init__(self, folder):
        self._folder = str(folder)

    def begin(self):
        self._saver = tf1.train.Saver({each.op.name: each for each in tf1.trainable_variables()})

    def after_create_session(self, session, coord):
        self._saver.restore(session, tf1.train.latest_checkpoint(self._folder))


def eval_losses(folder, use_tpu):
    """Returns the loss on moving averages, and the loss with a hook that undoes them."""
    est = harness.estimator(folder, averaged, use_tpu=use_tpu)
    est.train(harness.input_fn, max_steps=4)
    hooks = [NamesHook(folder)]
    return [est.evaluate(harness.input_fn, steps=4, hooks=each)["loss"] for each in ([], hooks)]


@pytest.mark.skipif(cores.KIND != "cpus", reason="A virtual TPU's variables have no copies")
def test_a_saver_of_names_of_copies_is_refused(tmp_path):
    with pytest.raises(TypeError, match="Instead: --tpu virtual:8"):
        eval_losses(tmp_path, True)


@cores.virtual_only
def test_moving_averages_are_evaluated_unless_a_hook_restores_the_variables(tmp_path):
    actual, expected = eval_losses(tmp_path / "tpu", True), eval_losses(tmp_path / "cpu", False)
    np.testing.assert_allclose(actual, expected, rtol=1e-4)
    assert abs(actual[0] - actual[1]) > 0.01


@first_generation
def test_checkpoints_are_exchanged_with_tensorflows_tpu_estimator(tmp_path):
    native = tf.contrib.tpu

    def train(folder, steps, ours):
        if ours:
            harness.estimator(folder).train(harness.input_fn, max_steps=steps)
            return
        native.TPUEstimator(
            model_fn=harness.model_fn,
            config=native.RunConfig(model_dir=str(folder)),
            use_tpu=False,
            train_batch_size=16,
        ).train(harness.input_fn, max_steps=steps)

    for folder, first, second in (("a", True, False), ("b", False, True), ("c", False, False)):
        train(tmp_path / folder, 4, first)
        train(tmp_path / folder, 8, second)
    checkpoints = [
        {
            name: tf1.train.load_variable(str(tmp_path / folder), name)
            for name, _ in tf1.train.list_variables(str(tmp_path / folder))
        }
        for folder in "abc"
    ]
    native_only = checkpoints[2]
    for mixed in checkpoints[:2]:
        assert sorted(mixed) == sorted(native_only)
        for name, expected in native_only.items():
            np.testing.assert_allclose(mixed[name], expected, rtol=1e-4, atol=1e-6)
