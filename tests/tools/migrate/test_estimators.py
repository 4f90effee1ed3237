"""Programs with a TPUEstimator are moved to tpudist's namespace as a whole, and run there."""

import pytest

from tests.examples import running
from tests.tools.migrate import harness

MAIN = """import sys

import tensorflow as tf

import model


def main():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("virtual:2")
    config = tf.contrib.tpu.RunConfig(
        cluster=resolver,
        model_dir=sys.argv[1],
        tf_random_seed=1,
        tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=2),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        model.model_fn, config=config, train_batch_size=8, params={}
    )
    estimator.train(model.input_fn, max_steps=4)
    print("%.6f" % estimator.get_variable_value("weights").sum())


if __name__ == "__main__":
    main()
"""
MODEL = """import tensorflow as tf
from tensorflow.contrib import training as contrib_training

HPARAMS = contrib_training.HParams(rate=0.1)


def input_fn(params):
    dataset = tf.data.Dataset.range(64).map(lambda i: tf.cast(i, tf.float32) / 64.0)
    dataset = dataset.map(lambda x: ([x, x * x], [2.0 * x])).repeat()
    return dataset.batch(params["batch_size"], drop_remainder=True)


def model_fn(features, labels, mode, params):
    features.set_shape([features.shape[0].value, 2])
    weights = tf.get_variable("weights", [2, 1], initializer=tf.ones_initializer())
    predicted = tf.matmul(features, weights)
    loss = tf.losses.mean_squared_error(labels, predicted)
    optimizer = tf.train.GradientDescentOptimizer(HPARAMS.rate)
    optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)
"""
FILES = {"main.py": MAIN, "model.py": MODEL, "other.py": "import tensorflow as tf\ntf.Session()\n"}
OLD, NEW = "import tensorflow as tf\n", "from tpudist.contrib import tensorflow as tf\n"


@pytest.mark.parametrize("target", ["2.0", "2.2", "latest"])
def test_all_files_of_the_program_get_one_namespace_and_nothing_else(tmp_path, target):
    texts, left = harness.outcome(tmp_path, FILES, target)
    assert texts["main.py"] == MAIN.replace(OLD, NEW + "tf.disable_v2_behavior()\n")
    assert texts["model.py"] == MODEL.replace(OLD, NEW).replace(
        "from tensorflow.contrib", "from tpudist.contrib.tensorflow.contrib"
    )
    assert NEW not in texts["other.py"]
    assert sorted(use.path.rpartition("/")[2] for use in left) == ["main.py", "model.py"]
    assert {use.rule for use in left} == {"estimators"}
    again, _ = harness.outcome(tmp_path, texts, target)
    assert again == texts


def test_a_file_of_tensorflow_2_beside_it_is_of_its_own(tmp_path):
    other = "import tensorflow as tf\ntf.random.set_seed(1)\n"
    texts, _ = harness.outcome(
        tmp_path, {"main.py": MAIN + "import new\n", "model.py": MODEL, "new.py": other}, "latest"
    )
    assert texts["new.py"] == other and NEW in texts["main.py"]


def test_a_name_of_a_tpus_device_is_told_of_its_program(tmp_path):
    test = "import model\n\nNAMES = ['/device:TPU:0', '/device:TPU:1']\n"
    _, left = harness.outcome(tmp_path, {**FILES, "test.py": test}, "latest")
    told = [(use.path.rpartition("/")[2], use.seen) for use in left if use.rule == "tpu-devices"]
    assert told == [("test.py", "'/device:TPU:0'")]


@pytest.mark.slow
def test_the_program_runs_and_trains_as_it_did(tmp_path):
    pytest.importorskip("tensorflow", minversion="2.4", reason="what is written for latest")
    texts, _ = harness.outcome(tmp_path / "after", FILES, "latest")
    harness.put(tmp_path / "after", texts)
    harness.put(tmp_path / "before", FILES)
    printed = []
    for name, start in (("before", ["-m", "tpudist", "run"]), ("after", [])):
        script, models = tmp_path / name / "main.py", tmp_path / name / "models"
        done = running.python(*start, str(script), str(models))
        assert done.returncode == 0, done.stderr[-3000:]
        printed.append(done.stdout.splitlines()[-1])
    assert printed[0] == printed[1]
