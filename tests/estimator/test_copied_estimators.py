"""A TPUEstimator in a program's own file: a copy of TensorFlow's, as XLNet and others have one.

It is TensorFlow's own file of the installed release, and drives the virtual TPU as it drove a real
one: infeed and outfeed threads, loops on the device, host calls. The numbers are NumPy's.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from tests import ROOT
from tpudist.tfcompat import versions

PROGRAM = """\
import json
import sys

import numpy as np
import tensorflow as tf

import copied

x = np.arange(64, dtype=np.float32).reshape(32, 2) / 32
y = x @ np.float32([[1.0], [-2.0]]) + 0.5


def input_fn(params):
    rows = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
    return rows.repeat().batch(params["batch_size"], drop_remainder=True)


def predict_input_fn(params):
    return tf.data.Dataset.from_tensor_slices({"x": x}).batch(params["batch_size"])


def host_call(step, loss):
    with tf.contrib.summary.create_file_writer(sys.argv[1] + "/calls").as_default():
        with tf.contrib.summary.always_record_summaries():
            tf.contrib.summary.scalar("losses", tf.reduce_sum(loss), step=step[0])
            return tf.contrib.summary.all_summary_ops()


def metric_fn(labels, predicted):
    return {"error": tf.metrics.mean_absolute_error(labels, predicted)}


def model_fn(features, labels, mode, params):
    zeros = tf.zeros_initializer()
    kernel = tf.get_variable("linear/kernel", [2, 1], initializer=zeros)
    bias = tf.get_variable("linear/bias", [1], initializer=zeros)
    predicted = tf.matmul(features["x"], kernel) + bias
    if mode == tf.estimator.ModeKeys.PREDICT:
        return copied.TPUEstimatorSpec(mode, predictions={"y": predicted})
    loss = tf.reduce_mean(tf.square(predicted - labels))
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = (metric_fn, [labels, predicted])
        return copied.TPUEstimatorSpec(mode, loss=loss, eval_metrics=metrics)
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    step = tf.train.get_global_step()
    calls = (host_call, [tf.reshape(step, [1]), tf.reshape(loss, [1])])
    train_op = optimizer.minimize(loss, step)
    return copied.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, host_call=calls)


config = tf.contrib.tpu.RunConfig(
    cluster=tf.contrib.cluster_resolver.TPUClusterResolver("any"),
    model_dir=sys.argv[1],
    save_checkpoints_steps=4,
    tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=4, num_shards=8),
)
sizes = dict(train_batch_size=16, eval_batch_size=16, predict_batch_size=16)
estimator = copied.TPUEstimator(model_fn, use_tpu=True, config=config, **sizes)
estimator.train(input_fn, max_steps=12)
kernel, bias = map(estimator.get_variable_value, ("linear/kernel", "linear/bias"))
losses = [
    (event.step, value.simple_value)
    for path in tf.gfile.Glob(sys.argv[1] + "/calls/*")
    for event in tf.train.summary_iterator(path)
    for value in event.summary.value
]
found = estimator.evaluate(input_fn, steps=2)
predicted = [float(each["y"][0]) for each in estimator.predict(predict_input_fn)]
print("FOUND", json.dumps([kernel.ravel().tolist(), bias.tolist(), losses, predicted,
    float(found["error"]), int(found["global_step"])]))
"""


def copy_of_tensorflows(folder):
    """Writes TensorFlow's file, under other names where it registers some with TensorFlow."""
    package = (
        "tensorflow_estimator.python.estimator.tpu"
        if versions.TPU_IN_PYTHON
        else "tensorflow.contrib.tpu.python.tpu"
    )
    top = importlib.util.find_spec(package.partition(".")[0])
    if top is None:
        pytest.skip("no tensorflow-estimator is installed, whose file the program copies")
    below = package.split(".")[1:] + ["tpu_estimator.py"]
    with open(os.path.join(os.path.dirname(top.origin), *below), encoding="utf-8") as file:
        text = file.read()
    text = text.replace("= 'tpu_estimator'", "= 'copied'").replace("'/tensorflow/api", "'/copied")
    (folder / "copied.py").write_text(text, "utf-8")


def expected():
    """(kernel, bias, losses of each step, predictions, error) by NumPy."""
    x = np.arange(64.0).reshape(32, 2) / 32
    y = x @ [[1.0], [-2.0]] + 0.5
    rows = np.concatenate([x, np.ones([32, 1])], 1)
    weights, momentum, losses = np.zeros([3, 1]), np.zeros([3, 1]), []
    for step in range(12):
        batch, labels = rows.reshape(2, 16, 3)[step % 2], y.reshape(2, 16, 1)[step % 2]
        wrong = batch @ weights - labels
        losses.append(8 * np.mean(wrong**2))
        momentum = 0.9 * momentum + 2 / 16 * batch.T @ wrong
        weights = weights - 0.05 * momentum
    predicted = rows @ weights
    return weights[:2].ravel(), weights[2], losses, predicted.ravel(), np.mean(abs(predicted - y))


@pytest.mark.skipif(
    not versions.HAS_FUNCTION, reason="1.13 refuses cores that meet in a loop (compat/README.md)"
)
def test_a_copy_of_tensorflows_estimator_drives_the_virtual_tpu(tmp_path):
    copy_of_tensorflows(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tpudist", "run", "--era", "contrib"]
        + ["--tpu", "virtual:8", "train.py", str(tmp_path / "model")],
        cwd=str(tmp_path),
        env=dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = re.findall("^FOUND (.*)", done.stdout, re.M)
    kernel, bias, losses, predicted, error, step = json.loads(line)
    wanted = expected()
    np.testing.assert_allclose(kernel, wanted[0], rtol=1e-5)
    np.testing.assert_allclose(bias, wanted[1], rtol=1e-5)
    assert [step for step, _ in losses] == sorted(step for step, _ in losses)
    np.testing.assert_allclose([loss for _, loss in losses], wanted[2], rtol=1e-5)
    np.testing.assert_allclose(predicted, wanted[3], rtol=1e-5)
    np.testing.assert_allclose(error, wanted[4], rtol=1e-5)
    assert step == 12
