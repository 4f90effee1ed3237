"""A TPUEstimator refuses bad input with an error of three parts, before a Session starts."""

import resource

import numpy as np
import pytest
import tensorflow as tf

from tests.estimator import harness
from tpudist import errors, estimator
from tpudist.estimator import tpu

tf1 = tf.compat.v1


def check_refusal(est, words, input_fn=harness.input_fn, kind=ValueError):
    """Trains, and checks the error, and that no checkpoint was written: no Session started."""
    with pytest.raises(kind, match=words) as caught:
        est.train(input_fn, max_steps=2)
    error = caught.value
    assert isinstance(error, errors.TpudistError) and error.why and error.instead
    assert est.latest_checkpoint() is None
    return error


def model_fn_with(**fields):
    """Returns a model function with other fields, each made from its specification."""

    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params)
        return spec._replace(**{name: make(spec) for name, make in fields.items()})

    return model_fn


def test_a_batch_size_that_replicas_cannot_share(tmp_path):
    error = check_refusal(harness.estimator(tmp_path, train_batch_size=12), "train_batch_size=12")
    assert "8 replicas" in error.seen and error.instead == "train_batch_size=16"


def test_an_evaluation_without_batch_size(tmp_path):
    est = harness.estimator(tmp_path, eval_batch_size=None)
    with pytest.raises(errors.ArgumentError, match="eval_batch_size=None"):
        est.evaluate(harness.input_fn, steps=1)


@pytest.mark.parametrize("method", ["train", "evaluate"])
def test_a_run_without_number_of_steps(tmp_path, method):
    with pytest.raises(errors.ArgumentError, match="steps=None"):
        getattr(harness.estimator(tmp_path), method)(harness.input_fn)


def test_a_model_function_without_params(tmp_path):
    with pytest.raises(errors.ArgumentError, match="does not include a params argument"):
        harness.estimator(tmp_path, lambda features, labels, mode: None)


def test_an_input_function_without_params(tmp_path):
    check_refusal(harness.estimator(tmp_path), "does not include a params", lambda: None)


BAD_INPUTS = [
    [1, 2],
    [[1.0, 2.0], [3.0, 4.0]],
    (1.0, 2.0),
    {"x": "text"},
    [np.ones(2), np.ones(2), np.ones(2)],
]


@pytest.mark.parametrize("value", BAD_INPUTS)
def test_an_input_function_that_returns_no_batches(tmp_path, value):
    words = "an input function returned"
    check_refusal(harness.estimator(tmp_path), words, lambda params: value)
    config = estimator.RunConfig(model_dir=str(tmp_path))
    plain = estimator.Estimator(lambda features, labels, mode: None, config=config)
    check_refusal(plain, words, lambda: value)


@pytest.mark.parametrize("name", ["batch_size", "context"])
def test_reserved_params(tmp_path, name):
    with pytest.raises(errors.ArgumentError, match=name):
        harness.estimator(tmp_path, params={name: 1})


def test_a_config_of_a_plain_estimator():
    with pytest.raises(errors.ArgumentTypeError, match="config=None"):
        tpu.TPUEstimator(harness.model_fn, config=None)


def test_a_loss_that_is_a_number(tmp_path):
    check_refusal(
        harness.estimator(tmp_path, model_fn_with(loss=lambda spec: 0.5)),
        "loss=0.5",
        kind=TypeError,
    )


def test_a_model_function_that_returns_no_specification(tmp_path):
    est = harness.estimator(tmp_path, lambda features, labels, mode, params: 7)
    check_refusal(est, "returned 7", kind=TypeError)


def test_gradients_that_are_not_summed_over_replicas(tmp_path):
    est = harness.estimator(tmp_path, params={"unsummed": True})
    error = check_refusal(est, "CrossShardOptimizer must be used")
    assert "tf.compat.v1.tpu.CrossShardOptimizer(optimizer)" in error.instead  # Everywhere there.


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("mode", ["train", "eval", "infer"])
def test_a_hook_that_reads_a_tensor_of_the_step(tmp_path, mode, by_name):
    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params)
        read = tf.identity(spec.loss if mode != "infer" else features["x"], "read_by_a_hook")
        named = {"read": read.name if by_name else read}
        hook = tf1.train.LoggingTensorHook(named, every_n_iter=1)
        field = {"train": "training", "eval": "evaluation", "infer": "prediction"}[mode] + "_hooks"
        return spec._replace(**{field: [hook]})

    est = harness.estimator(tmp_path, model_fn)
    words = "LoggingTensorHook, which reads '.*read_by_a_hook"
    runs = {
        "train": lambda: est.train(harness.input_fn, max_steps=2),
        "eval": lambda: est.evaluate(harness.input_fn, steps=1),
        "infer": lambda: list(est.predict(harness.input_fn)),
    }
    with pytest.raises(errors.ArgumentError, match=words):
        runs[mode]()


def test_a_hook_that_reads_the_global_step(tmp_path):
    def hook(spec):
        return [tf1.train.LoggingTensorHook({"loss": "global_step"}, every_n_iter=1)]

    est = harness.estimator(tmp_path, model_fn_with(training_hooks=hook))
    est.train(harness.input_fn, max_steps=2)
    assert est.get_variable_value("global_step") == 2


def test_a_host_call_that_captures_a_tensor_of_the_cores(tmp_path):
    def host_call(spec):
        loss = spec.loss

        def host_fn(step):
            return tf1.summary.scalar("loss", loss)

        return host_fn, [tf.zeros([1])]

    error = check_refusal(
        harness.estimator(tmp_path, model_fn_with(host_call=host_call)), "captures .*'loss'"
    )
    assert "host_fn" in error.seen


def test_a_host_call_with_a_scalar(tmp_path):
    est = harness.estimator(
        tmp_path, model_fn_with(host_call=lambda spec: (lambda loss: loss, [spec.loss]))
    )
    check_refusal(est, "scalar")


@pytest.mark.parametrize("pipeline", ["PER_HOST_V1", "PER_HOST_V2"])
def test_a_dataset_without_static_shapes(tmp_path, pipeline):
    def input_fn(params):
        dataset = tf.data.Dataset.from_tensor_slices(({"x": harness.X}, harness.Y))
        return dataset.repeat().batch(params["batch_size"])

    pipeline = getattr(tpu.InputPipelineConfig, pipeline)
    est = harness.estimator(tmp_path, per_host_input_for_training=pipeline)
    check_refusal(est, "shape", input_fn)


def test_predictions_without_a_row_for_each_example(tmp_path):
    def model_fn(features, labels, mode, params):
        harness.linear(features)
        return tpu.TPUEstimatorSpec(mode, predictions={"all": tf.zeros([5, 5])})

    with pytest.raises(errors.ArgumentError, match="16 of 24 examples"):
        list(harness.estimator(tmp_path, model_fn).predict(harness.input_fn))


class FullDiskListener(tf1.train.CheckpointSaverListener):
    """Lets no file grow after step 4, as on a full disk."""

    def before_save(self, session, global_step_value):
        if global_step_value > 4:
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, self.limits[1]))

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path):
    est = harness.estimator(tmp_path)
    est.train(harness.input_fn, max_steps=4)
    path, weights = est.latest_checkpoint(), est.get_variable_value("linear/w")
    try:
        with pytest.raises(tf.errors.OpError, match="[Ff]ile too large"):
            est.train(harness.input_fn, max_steps=8, saving_listeners=[FullDiskListener()])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, FullDiskListener.limits)
    again = harness.estimator(tmp_path)
    assert again.latest_checkpoint() == path
    np.testing.assert_array_equal(again.get_variable_value("linear/w"), weights)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_shards": 4}, "num_shards=4 on a TPU of 8 replicas"),
        ({"num_cores_per_replica": 16}, r"a mesh of \[2, 2, (1, )?2\]"),
        ({"embedding_config_spec": object()}, "embedding hardware"),
        ({"export_to_cpu": False}, "export_to_cpu=False"),
    ],
)
def test_options_that_would_have_no_effect(tmp_path, options, words):
    with pytest.raises(errors.ArgumentError, match=words) as caught:
        harness.estimator(tmp_path, **options)
    assert caught.value.why and caught.value.instead


def test_a_loop_whose_length_is_a_time(tmp_path):
    # On 1.13 and 1.14 TensorFlow's own TPUConfig refuses it.
    with pytest.raises((ValueError, TypeError), match="iterations_per_loop"):
        harness.estimator(tmp_path, per_loop="30s")


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ([{"x": [1, 4]}, None], "4"),
        ([{"x": [1, 2, 1]}, None], "rank|dimensions"),
        ([{"y": [1, 2]}, None], "structure of the input"),
    ],
)
def test_partition_dims_that_do_not_fit_the_input(tmp_path, dims, words):
    est = harness.estimator(
        tmp_path,
        num_cores_per_replica=2,
        input_partition_dims=dims,
        per_host_input_for_training=tpu.InputPipelineConfig.PER_HOST_V2,
    )
    check_refusal(est, words)


def test_partition_dims_with_batches_that_a_host_splits(tmp_path):
    with pytest.raises(ValueError, match="PER_HOST_V2 mode"):
        harness.estimator(tmp_path, num_cores_per_replica=2, input_partition_dims=[[1, 2], None])


@pytest.mark.parametrize("mode", ["evaluate", "predict"])
def test_an_estimator_spec_in_an_evaluation_or_prediction(tmp_path, mode):
    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params)
        if mode == "train":
            return spec
        return estimator.EstimatorSpec(mode, loss=spec.loss, predictions=spec.predictions)

    est = harness.estimator(tmp_path, model_fn)
    est.train(harness.input_fn, max_steps=4)
    with pytest.raises(errors.ArgumentTypeError, match="an EstimatorSpec for mode"):
        steps = {"steps": 1} if mode == "evaluate" else {}
        list(getattr(est, mode)(harness.input_fn, **steps))


def test_an_estimator_spec_with_hooks_of_the_chief(tmp_path):
    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params).as_estimator_spec()
        return spec._replace(training_chief_hooks=(harness.Losses(),))

    check_refusal(harness.estimator(tmp_path, model_fn), "training_chief_hooks=")
