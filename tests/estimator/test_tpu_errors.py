"""Bad input of a TPUEstimator: told in three parts before a Session starts."""

import resource

import numpy as np
import pytest
import tensorflow as tf

from tests.estimator import harness
from tpudist import errors, estimator
from tpudist.estimator import tpu

tf1 = tf.compat.v1


def refused(made, words, input_fn=harness.input_fn, kind=ValueError):
    """Trains, and checks the error; no checkpoint was written: no Session had started."""
    with pytest.raises(kind, match=words) as caught:
        made.train(input_fn, max_steps=2)
    error = caught.value
    assert isinstance(error, errors.TpudistError) and error.why and error.instead
    assert made.latest_checkpoint() is None
    return error


def changed(**fields):
    """A model function with other fields in its specification."""

    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params)
        return spec._replace(**{name: make(spec) for name, make in fields.items()})

    return model_fn


def test_a_batch_that_the_cores_cannot_share(tmp_path):
    error = refused(harness.estimator(tmp_path, train_batch_size=12), "train_batch_size=12")
    assert "8 replicas" in error.seen and error.instead == "train_batch_size=16"


def test_no_batch_size_for_evaluation(tmp_path):
    made = harness.estimator(tmp_path, eval_batch_size=None)
    with pytest.raises(errors.ArgumentError, match="eval_batch_size=None"):
        made.evaluate(harness.input_fn, steps=1)


@pytest.mark.parametrize("steps", ["train", "evaluate"])
def test_no_number_of_steps(tmp_path, steps):
    with pytest.raises(errors.ArgumentError, match="steps=None"):
        getattr(harness.estimator(tmp_path), steps)(harness.input_fn)


def test_a_model_function_without_params(tmp_path):
    with pytest.raises(errors.ArgumentError, match="does not include a params argument"):
        harness.estimator(tmp_path, lambda features, labels, mode: None)


def test_an_input_function_without_params(tmp_path):
    refused(harness.estimator(tmp_path), "does not include a params", lambda: None)


@pytest.mark.parametrize("name", ["batch_size", "context"])
def test_reserved_params(tmp_path, name):
    with pytest.raises(errors.ArgumentError, match=name):
        harness.estimator(tmp_path, params={name: 1})


def test_a_config_of_a_plain_estimator():
    with pytest.raises(errors.ArgumentTypeError, match="config=None"):
        tpu.TPUEstimator(harness.model_fn, config=None)


def test_a_loss_that_is_a_number(tmp_path):
    refused(harness.estimator(tmp_path, changed(loss=lambda spec: 0.5)), "loss=0.5", kind=TypeError)


def test_no_specification(tmp_path):
    made = harness.estimator(tmp_path, lambda features, labels, mode, params: 7)
    refused(made, "returned 7", kind=TypeError)


def test_gradients_that_are_not_summed(tmp_path):
    made = harness.estimator(tmp_path, params={"alone": True})
    refused(made, "CrossShardOptimizer must be used")


def test_a_host_call_that_captures_a_tensor_of_the_cores(tmp_path):
    def host_call(spec):
        loss = spec.loss

        def host_fn(step):
            return tf1.summary.scalar("loss", loss)

        return host_fn, [tf.zeros([1])]

    error = refused(harness.estimator(tmp_path, changed(host_call=host_call)), "captures .*'loss'")
    assert "host_fn" in error.seen


def test_a_host_call_with_a_scalar(tmp_path):
    made = harness.estimator(
        tmp_path, changed(host_call=lambda spec: (lambda loss: loss, [spec.loss]))
    )
    refused(made, "scalar")


@pytest.mark.parametrize("how", ["PER_HOST_V1", "PER_HOST_V2"])
def test_a_dataset_without_static_shapes(tmp_path, how):
    def input_fn(params):
        dataset = tf.data.Dataset.from_tensor_slices(({"x": harness.X}, harness.Y))
        return dataset.repeat().batch(params["batch_size"])

    how = getattr(tpu.InputPipelineConfig, how)
    made = harness.estimator(tmp_path, per_host_input_for_training=how)
    refused(made, "shape", input_fn)


def test_predictions_that_are_no_rows(tmp_path):
    def model_fn(features, labels, mode, params):
        harness.linear(features)
        return tpu.TPUEstimatorSpec(mode, predictions={"all": tf.zeros([5, 5])})

    with pytest.raises(errors.ArgumentError, match="rows"):
        list(harness.estimator(tmp_path, model_fn).predict(harness.input_fn))


class Full(tf1.train.CheckpointSaverListener):
    """From now on no file can grow, as on a full disk."""

    def before_save(self, session, global_step_value):
        if global_step_value > 4:
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, self.limits[1]))

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)


def test_a_disk_that_is_full_leaves_the_last_checkpoint(tmp_path):
    made = harness.estimator(tmp_path)
    made.train(harness.input_fn, max_steps=4)
    path, weights = made.latest_checkpoint(), harness.value(made, "linear/w")
    try:
        with pytest.raises(tf.errors.OpError, match="[Ff]ile too large"):
            made.train(harness.input_fn, max_steps=8, saving_listeners=[Full()])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, Full.limits)
    again = harness.estimator(tmp_path)
    assert again.latest_checkpoint() == path
    np.testing.assert_array_equal(harness.value(again, "linear/w"), weights)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"num_shards": 4}, "num_shards=4 on a TPU of 8 replicas"),
        ({"num_cores_per_replica": 16}, r"a mesh of \[2, 2, (1, )?2\]"),
        ({"embedding_config_spec": object()}, "embedding hardware"),
        ({"export_to_cpu": False}, "export_to_cpu=False"),
    ],
)
def test_what_would_have_no_effect(tmp_path, options, words):
    with pytest.raises(errors.ArgumentError, match=words) as caught:
        harness.estimator(tmp_path, **options)
    assert caught.value.why and caught.value.instead


def test_a_loop_of_a_length_in_time(tmp_path):
    # On 1.13 and 1.14 it is TensorFlow that refuses it.
    with pytest.raises((ValueError, TypeError), match="iterations_per_loop"):
        harness.estimator(tmp_path, per_loop="30s")


@pytest.mark.parametrize(
    "dims, words",
    [
        ([{"x": [1, 4]}, None], "4"),
        ([{"x": [1, 2, 1]}, None], "rank|dimensions"),
        ([{"y": [1, 2]}, None], "structure of the input"),
    ],
)
def test_dimensions_that_do_not_fit_the_input(tmp_path, dims, words):
    made = harness.estimator(
        tmp_path,
        num_cores_per_replica=2,
        input_partition_dims=dims,
        per_host_input_for_training=tpu.InputPipelineConfig.PER_HOST_V2,
    )
    refused(made, words)


def test_a_split_of_input_that_a_host_splits_already(tmp_path):
    with pytest.raises(ValueError, match="PER_HOST_V2 mode"):
        harness.estimator(tmp_path, num_cores_per_replica=2, input_partition_dims=[[1, 2], None])


@pytest.mark.parametrize("mode", ["evaluate", "predict"])
def test_an_estimator_spec_where_the_host_needs_more(tmp_path, mode):
    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params)
        if mode == "train":
            return spec
        return estimator.EstimatorSpec(mode, loss=spec.loss, predictions=spec.predictions)

    made = harness.estimator(tmp_path, model_fn)
    made.train(harness.input_fn, max_steps=4)
    with pytest.raises(errors.ArgumentTypeError, match="an EstimatorSpec for mode"):
        steps = {"steps": 1} if mode == "evaluate" else {}
        list(getattr(made, mode)(harness.input_fn, **steps))


def test_hooks_of_the_chief(tmp_path):
    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params).as_estimator_spec()
        return spec._replace(training_chief_hooks=(harness.Losses(),))

    refused(harness.estimator(tmp_path, model_fn), "training_chief_hooks=")
