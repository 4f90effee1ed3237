"""A TPUEstimator writes event files, log lines, checkpoints and exports."""

import contextlib
import logging
import os
import re

import numpy as np
import pytest
import tensorflow as tf

from tests.estimator import harness
from tpudist import estimator
from tpudist.contrib import tensorflow as contrib

tf1 = tf.compat.v1


def events(folder):
    """Returns {tag: [(step, value)]} of the event files in a folder, as TensorBoard reads them."""
    values = {}
    for path in sorted(str(each) for each in folder.glob("events.out.tfevents.*")):
        for event in tf1.train.summary_iterator(path):
            for value in event.summary.value:
                values.setdefault(value.tag, []).append((event.step, value.simple_value))
    return values


@contextlib.contextmanager
def log_lines():
    """Gives a list of the lines that TensorFlow logs in the block."""
    lines, handler = [], logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger, level = logging.getLogger("tensorflow"), tf1.logging.get_verbosity()
    tf1.logging.set_verbosity(tf1.logging.INFO)
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        tf1.logging.set_verbosity(level)


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """Gives (folder, log lines) of a training and an evaluation."""
    folder = tmp_path_factory.mktemp("logged")
    with log_lines() as lines:
        est = harness.estimator(folder, log_step_count_steps=4)
        est.train(harness.input_fn, max_steps=12)
        est.evaluate(harness.input_fn, steps=4)
    return folder, lines


def test_a_training_writes_summaries(logged):
    summaries = events(logged[0])
    losses = harness.trained_by_numpy(12, 16)[2]
    by_step = dict(summaries["loss"])
    for step, loss in by_step.items():
        np.testing.assert_allclose(loss, losses[step - 1], rtol=1e-4)
    assert by_step
    for tag in ("global_step/sec", "examples/sec"):
        assert [step for step, rate in summaries[tag] if rate > 0] == [8, 12]
    speeds = [summaries[tag][0][1] for tag in ("examples/sec", "global_step/sec")]
    np.testing.assert_allclose(speeds[0] / speeds[1], 16)


def test_an_evaluation_writes_summaries(logged):
    summaries = events(logged[0] / "eval")
    assert [step for step, _ in summaries["root"]] == [12]
    np.testing.assert_allclose(summaries["root"][0][1] ** 2, summaries["loss"][0][1], rtol=1e-4)


def test_speed_is_logged(logged):
    for name in ("global_step/sec", "examples/sec"):
        lines = [line for line in logged[1] if re.match(name + r": [\d.]+", line)]
        assert len(lines) == 2, logged[1]


def test_a_summary_of_a_model_function_is_warned_of_once(tmp_path):
    def fields(loss):
        tf1.summary.scalar("my_loss", loss)
        return {}

    est = harness.estimator(tmp_path, params={"fields": fields})
    with log_lines() as lines:
        for steps in (4, 8):
            est.train(harness.input_fn, max_steps=steps)
    (warning,) = [line for line in lines if "my_loss" in line]
    line = fields.__code__.co_firstlineno + 1
    assert "%s:%d" % (__file__, line) in warning and "tf.contrib.summary.scalar" in warning
    assert "my_loss" not in events(tmp_path)


def test_the_asynchronous_hook_saves_checkpoints(tmp_path):
    hook = contrib.contrib.tpu.AsyncCheckpointSaverHook
    assert issubclass(hook, tf1.train.CheckpointSaverHook)
    est = harness.estimator(tmp_path, save_checkpoints_steps=10**6)
    saver = hook(str(tmp_path / "more"), save_steps=4)
    est.train(harness.input_fn, hooks=[saver], max_steps=12)
    path = tf1.train.latest_checkpoint(str(tmp_path / "more"))
    assert path.endswith("-12")
    w, _, _ = harness.trained_by_numpy(12, 16)
    np.testing.assert_allclose(tf1.train.load_variable(path, "linear/w"), w, rtol=1e-4, atol=1e-6)


def test_an_exported_model_is_served(tmp_path):
    est = harness.estimator(tmp_path, harness.exported_model_fn, export_to_tpu=False)
    est.train(harness.input_fn, max_steps=4)
    folder = est.export_saved_model(str(tmp_path / "saved"), harness.serving_input_receiver_fn)
    w, b, _ = harness.trained_by_numpy(4, 16)
    values = harness.serve(os.fsdecode(folder), harness.X[:5])
    np.testing.assert_allclose(values, harness.X[:5].dot(w) + b, rtol=1e-4)


@pytest.mark.slow
def test_train_and_evaluate_exports_the_model(tmp_path):
    est = harness.estimator(
        tmp_path, harness.exported_model_fn, export_to_tpu=False, save_checkpoints_steps=4
    )
    exporter = estimator.FinalExporter("final", harness.serving_input_receiver_fn)
    estimator.train_and_evaluate(
        est,
        estimator.TrainSpec(harness.input_fn, max_steps=8),
        estimator.EvalSpec(
            harness.input_fn, steps=4, exporters=[exporter], start_delay_secs=0, throttle_secs=0
        ),
    )
    (folder,) = (tmp_path / "export" / "final").iterdir()
    w, b, _ = harness.trained_by_numpy(8, 16)
    np.testing.assert_allclose(
        harness.serve(folder, harness.X[:5]), harness.X[:5].dot(w) + b, rtol=1e-4, atol=1e-6
    )
    steps = [step for step, _ in events(tmp_path / "eval")["loss"]]
    assert steps[-1] == 8
