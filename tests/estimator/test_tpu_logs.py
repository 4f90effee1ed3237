"""What a TPUEstimator writes for people: event files, log lines, checkpoints, exports."""

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
    """{tag: [(step, value)]} of the event files in a folder, as TensorBoard reads them."""
    found = {}
    for path in sorted(str(each) for each in folder.glob("events.out.tfevents.*")):
        for event in tf1.train.summary_iterator(path):
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


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
    """(folder, event files, log lines) of a training and an evaluation."""
    folder = tmp_path_factory.mktemp("logged")
    with log_lines() as lines:
        made = harness.estimator(folder, log_step_count_steps=4)
        made.train(harness.input_fn, max_steps=12)
        made.evaluate(harness.input_fn, steps=4)
    return folder, lines


def test_summaries_are_read_back(logged):
    found = events(logged[0])
    losses = harness.trained_by_numpy(12, 16)[2]
    by_step = dict(found["loss"])
    for step, loss in by_step.items():
        np.testing.assert_allclose(loss, losses[step - 1], rtol=1e-4)
    assert by_step
    for tag in ("global_step/sec", "examples/sec"):
        assert [step for step, rate in found[tag] if rate > 0] == [8, 12]
    np.testing.assert_allclose(found["examples/sec"][0][1] / found["global_step/sec"][0][1], 16)


def test_an_evaluation_is_read_back(logged):
    found = events(logged[0] / "eval")
    assert [step for step, _ in found["root"]] == [12]
    np.testing.assert_allclose(found["root"][0][1] ** 2, found["loss"][0][1], rtol=1e-4)


def test_speed_is_logged(logged):
    for name in ("global_step/sec", "examples/sec"):
        lines = [line for line in logged[1] if re.match(name + r": [\d.]+", line)]
        assert len(lines) == 2, logged[1]


def test_a_summary_of_a_model_function_is_told_once(tmp_path):
    def more(loss):
        tf1.summary.scalar("my_loss", loss)
        return {}

    made = harness.estimator(tmp_path, params={"more": more})
    with log_lines() as lines:
        for steps in (4, 8):
            made.train(harness.input_fn, max_steps=steps)
    (told,) = [line for line in lines if "my_loss" in line]
    line = more.__code__.co_firstlineno + 1
    assert "%s:%d" % (__file__, line) in told and "tf.contrib.summary.scalar" in told
    assert "my_loss" not in events(tmp_path)


def test_checkpoints_of_the_asynchronous_hook(tmp_path):
    hook = contrib.contrib.tpu.AsyncCheckpointSaverHook
    assert issubclass(hook, tf1.train.CheckpointSaverHook)
    made = harness.estimator(tmp_path, save_checkpoints_steps=10**6)
    saver = hook(str(tmp_path / "more"), save_steps=4)
    made.train(harness.input_fn, hooks=[saver], max_steps=12)
    path = tf1.train.latest_checkpoint(str(tmp_path / "more"))
    assert path.endswith("-12")
    w, _, _ = harness.trained_by_numpy(12, 16)
    np.testing.assert_allclose(tf1.train.load_variable(path, "linear/w"), w, rtol=1e-4, atol=1e-6)


def test_an_export_is_served(tmp_path):
    made = harness.estimator(tmp_path, harness.exported_model_fn, export_to_tpu=False)
    made.train(harness.input_fn, max_steps=4)
    folder = made.export_saved_model(str(tmp_path / "saved"), harness.receiver)
    w, b, _ = harness.trained_by_numpy(4, 16)
    found = harness.served(os.fsdecode(folder), harness.X[:5])
    np.testing.assert_allclose(found, harness.X[:5].dot(w) + b, rtol=1e-4)


def test_training_with_evaluation_exports_the_model(tmp_path):
    made = harness.estimator(
        tmp_path, harness.exported_model_fn, export_to_tpu=False, save_checkpoints_steps=4
    )
    exporter = estimator.FinalExporter("final", harness.receiver)
    estimator.train_and_evaluate(
        made,
        estimator.TrainSpec(harness.input_fn, max_steps=8),
        estimator.EvalSpec(
            harness.input_fn, steps=4, exporters=[exporter], start_delay_secs=0, throttle_secs=0
        ),
    )
    (folder,) = (tmp_path / "export" / "final").iterdir()
    w, b, _ = harness.trained_by_numpy(8, 16)
    np.testing.assert_allclose(
        harness.served(folder, harness.X[:5]), harness.X[:5].dot(w) + b, rtol=1e-4, atol=1e-6
    )
    steps = [step for step, _ in events(tmp_path / "eval")["loss"]]
    assert steps[-1] == 8
