"""A TPUEstimator evaluates and predicts over the batch of all replicas."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.estimator import harness
from tpudist.estimator import tpu

tf1 = tf.compat.v1


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    est = harness.estimator(tmp_path_factory.mktemp("trained"))
    est.train(harness.input_fn, max_steps=4)
    return est


def predicted():
    w, b, _ = harness.trained_by_numpy(4, 16)
    return harness.X.dot(w) + b


def test_metrics_are_over_the_global_batch(trained):
    results = trained.evaluate(harness.input_fn, steps=4)
    error = ((predicted() - harness.Y) ** 2).mean()
    assert sorted(results) == ["global_step", "loss", "root"]
    np.testing.assert_allclose([results["loss"], results["root"] ** 2], [error, error], rtol=1e-4)
    assert results["global_step"] == 4


def test_a_model_function_that_always_makes_the_train_op_trains_in_no_evaluation(trained):
    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, "train", params)
        return spec if mode == "train" else tpu.TPUEstimatorSpec(mode, loss=spec.loss)

    est = harness.estimator(trained.model_dir, model_fn)
    expected = trained.evaluate(harness.input_fn, steps=4)
    for _ in range(2):
        results = est.evaluate(harness.input_fn, steps=4)
        np.testing.assert_allclose(results["loss"], expected["loss"], rtol=1e-5)


@pytest.mark.parametrize("options", [{"use_tpu": False}, {"eval_on_tpu": False}])
def test_metrics_are_the_same_without_a_tpu(trained, options):
    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params)
        return spec.as_estimator_spec() if "eval_on_tpu" in options else spec

    est = harness.estimator(trained.model_dir, model_fn, **options)
    results = est.evaluate(harness.input_fn, steps=4)
    expected = trained.evaluate(harness.input_fn, steps=4)
    assert sorted(results) == sorted(expected)
    for name in results:
        np.testing.assert_allclose(results[name], expected[name], rtol=1e-5)


@pytest.mark.skipif(not hasattr(tpu.InputPipelineConfig, "SLICED"), reason="1.14 brought it")
def test_an_evaluation_may_be_sliced(trained):
    pipelines = tpu.InputPipelineConfig
    est = harness.estimator(
        trained.model_dir,
        per_host_input_for_training=pipelines.PER_HOST_V2,
        eval_training_input_configuration=pipelines.SLICED,
    )
    results = est.evaluate(harness.input_fn, steps=4)
    np.testing.assert_allclose(results["loss"], ((predicted() - harness.Y) ** 2).mean(), rtol=1e-4)


@pytest.mark.parametrize("pipeline", ["PER_HOST_V1", "PER_HOST_V2"])
@pytest.mark.parametrize("rows", [61, 3])
def test_predictions_come_in_order_and_without_padding(trained, pipeline, rows):
    est = harness.estimator(
        trained.model_dir, per_host_input_for_training=getattr(tpu.InputPipelineConfig, pipeline)
    )

    def input_fn(params):
        dataset = tf.data.Dataset.from_tensor_slices({"x": harness.X[:rows]})
        return dataset.batch(params["batch_size"])

    predictions = list(est.predict(input_fn))
    assert len(predictions) == rows
    np.testing.assert_array_equal([each["x"] for each in predictions], harness.X[:rows])
    np.testing.assert_allclose(
        [each["value"] for each in predictions], predicted()[:rows], rtol=1e-4
    )


def test_a_prediction_may_have_several_rows_for_each_example(tmp_path):
    def model_fn(features, labels, mode, params):
        return tpu.TPUEstimatorSpec(mode, predictions={"x": tf.reshape(features["x"], [-1])})

    def input_fn(params):
        dataset = tf.data.Dataset.from_tensor_slices({"x": harness.X[:48]})
        return dataset.batch(params["batch_size"], drop_remainder=True)

    found = [each["x"] for each in harness.estimator(tmp_path, model_fn).predict(input_fn)]
    np.testing.assert_array_equal(found, harness.X[:48].reshape(-1))


def test_the_input_of_a_prediction_may_be_empty(trained):
    def input_fn(params):
        dataset = tf.data.Dataset.from_tensor_slices({"x": harness.X})
        return dataset.take(0).batch(params["batch_size"])

    assert list(trained.predict(input_fn)) == []


def test_each_replica_draws_its_own_random_numbers(trained):
    def model_fn(features, labels, mode, params):
        harness.linear(features)
        drawn = tf1.random_uniform([params["batch_size"], 4])
        again = tf1.random_uniform([params["batch_size"], 4])
        return tpu.TPUEstimatorSpec(mode, predictions={"drawn": drawn, "again": again})

    def draw():
        est = harness.estimator(trained.model_dir, model_fn, tf_random_seed=3)
        rows = list(itertools.islice(est.predict(harness.input_fn), 24))
        return [tuple(each[name]) for name in ("drawn", "again") for each in rows]

    first = draw()
    assert len(first) == 48 == len(set(first))
    assert draw() == first


class CallsHook(tf1.train.SessionRunHook):
    """Notes the beginning, the global step of each run, and the end."""

    def __init__(self):
        self.calls = []

    def begin(self):
        self.calls.append("begin")

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(tf1.train.get_global_step())

    def after_run(self, run_context, run_values):
        self.calls.append(int(run_values.results))

    def end(self, session):
        self.calls.append("end")


@pytest.mark.parametrize("use_tpu", [True, False])
def test_hooks_of_the_specification_run_in_their_mode(trained, use_tpu):
    hooks = {name: CallsHook() for name in ("evaluation_hooks", "prediction_hooks")}

    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params)
        return spec._replace(**{name: (hook,) for name, hook in hooks.items()})

    est = harness.estimator(trained.model_dir, model_fn, use_tpu=use_tpu)
    est.evaluate(harness.input_fn, steps=4)
    assert hooks["prediction_hooks"].calls == []
    list(est.predict(harness.input_fn))
    for hook in hooks.values():
        first, *runs, last = hook.calls
        assert (first, last) == ("begin", "end") and runs and set(runs) == {4}
