"""A TPUEstimator trains as on the global batch, whatever feeds the replicas."""

import numpy as np
import pytest
import tensorflow as tf

from tests.dropin.harness import drop_in
from tests.estimator import harness
from tests.helpers import cores
from tpudist import dropin, estimator, surfaces
from tpudist.contrib.distribute import get_tower_context
from tpudist.estimator import tpu
from tpudist.tfcompat import estimators, versions

tf1 = tf.compat.v1
PIPELINES = tpu.InputPipelineConfig


def check_training(est, steps, batch=16, **options):
    """Checks variables and global step against the same training in numpy."""
    w, b, _ = harness.trained_by_numpy(steps, batch, **options)
    np.testing.assert_allclose(est.get_variable_value("linear/w"), w, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(est.get_variable_value("linear/b"), b, rtol=1e-4, atol=1e-6)
    assert est.get_variable_value("global_step") == steps


def test_the_global_batch_trains_the_model(tmp_path):
    est, hook = harness.estimator(tmp_path), harness.Losses()
    assert est.train(harness.input_fn, hooks=[hook], max_steps=10) is est
    check_training(est, 10)
    losses = harness.trained_by_numpy(10, 16)[2]
    np.testing.assert_allclose(hook.losses, [losses[3], losses[7], losses[9]], rtol=1e-4)
    assert sorted(est.get_variable_names()) == [
        "global_step",
        "linear/b",
        "linear/b/Momentum",
        "linear/w",
        "linear/w/Momentum",
    ]


@pytest.mark.skipif(estimators.native_tpu_estimator is None, reason="no TPUEstimator from 2.16 on")
def test_on_a_real_tpu_it_is_tensorflows_own(tmp_path):
    config = tpu.RunConfig(master="grpc://10.240.1.2:8470", model_dir=str(tmp_path))
    native = estimators.native_tpu_estimator
    est = tpu.TPUEstimator(harness.model_fn, config=config, train_batch_size=16)
    assert isinstance(est, native) and not isinstance(est, tpu.TPUEstimator)
    here = tpu.TPUEstimator(harness.model_fn, None, config, {}, False, 16)
    assert isinstance(here, tpu.TPUEstimator)


@cores.virtual_only
@pytest.mark.skipif(not versions.TRACES_AS_FIRST, reason="1.13 finds variables by the core")
def test_the_model_function_is_called_once_for_all_replicas(tmp_path):
    calls = []

    def model_fn(features, labels, mode, params):
        calls.append(mode)
        assert params["batch_size"] == 2 and params["context"].num_replicas == 8
        return harness.model_fn(features, labels, mode, params)

    est = harness.estimator(tmp_path, model_fn)
    est.train(harness.input_fn, max_steps=4)
    est.evaluate(harness.input_fn, steps=1)
    assert calls == ["train", "eval"]


def test_replicas_of_two_cores_share_their_input(tmp_path):
    seen = []

    def model_fn(features, labels, mode, params):
        seen.append((params["batch_size"], params["context"].num_replicas))
        return harness.model_fn(features, labels, mode, params)

    est = harness.estimator(
        tmp_path,
        model_fn,
        num_cores_per_replica=2,
        input_partition_dims=[{"x": [1, 2]}, None],
        per_host_input_for_training=PIPELINES.PER_HOST_V2,
    )
    est.train(harness.input_fn, max_steps=6)
    check_training(est, 6)
    assert set(seen) == {(4, 4)}


@pytest.mark.slow
def test_training_continues_from_the_checkpoint(tmp_path):
    harness.estimator(tmp_path).train(harness.input_fn, steps=4)
    est = harness.estimator(tmp_path)
    est.train(harness.input_fn, steps=4)
    assert est.get_variable_value("global_step") == 8
    est.train(harness.input_fn, max_steps=8)
    assert est.get_variable_value("global_step") == 8


@pytest.mark.parametrize(
    ("pipeline", "name", "calls"),
    [
        (PIPELINES.PER_HOST_V1, "virtual:8", [("0", 0, 1, 8, 16)]),
        (PIPELINES.PER_HOST_V2, "virtual:8", [("0", 0, 1, 8, 2)]),
        (PIPELINES.PER_SHARD_V1, "virtual:2", [("0", 0, 2, 1, 8), ("0", 1, 2, 1, 8)]),
        (PIPELINES.PER_HOST_V1, "virtual:v3:2x4", [("0", 0, 2, 8, 16), ("1", 1, 2, 8, 16)]),
        (PIPELINES.PER_HOST_V2, "virtual:v3:2x4", [("0", 0, 2, 8, 2), ("1", 1, 2, 8, 2)]),
    ],
)
def test_input_functions_are_called_for_each_host(tmp_path, pipeline, name, calls):
    seen, batch = [], 32 if "v3" in name else 16

    def input_fn(params):
        device, call, count, fed = params["context"].current_input_fn_deployment()
        task = device.partition("task:")[2].partition("/")[0]
        seen.append((task, call, count, fed, params["batch_size"]))
        # This call's rows of each global batch.
        share = batch // count
        at = np.concatenate(
            [np.arange(start + call * share, start + (call + 1) * share) for start in (0, 32)]
            if batch == 32
            else [np.arange(s + call * share, s + (call + 1) * share) for s in (0, 16, 32, 48)]
        )
        dataset = tf.data.Dataset.from_tensor_slices(({"x": harness.X[at]}, harness.Y[at]))
        return dataset.repeat().batch(params["batch_size"], drop_remainder=True)

    est = harness.estimator(
        tmp_path, tpu_name=name, train_batch_size=batch, per_host_input_for_training=pipeline
    )
    est.train(input_fn, max_steps=6)
    check_training(est, 6, batch)
    assert seen == calls


def test_each_replica_sees_the_whole_broadcast_batch(tmp_path):
    seen, calls = [], []

    def model_fn(features, labels, mode, params):
        seen.append((params["batch_size"], features["x"].shape.as_list()))
        return harness.model_fn(features, labels, mode, params)

    def input_fn(params):
        calls.append(params["batch_size"])
        return harness.input_fn(params)

    est = harness.estimator(tmp_path, model_fn, per_host_input_for_training=PIPELINES.BROADCAST)
    est.train(input_fn, max_steps=4)
    check_training(est, 4)
    assert calls == [16] and {each[0] for each in seen} == {16}
    assert all(shape == [16, 4] for _, shape in seen)


def test_an_input_function_may_return_tensors(tmp_path):
    def input_fn(params):
        dataset = harness.input_fn(params)
        return tf1.data.make_one_shot_iterator(dataset).get_next()

    est = harness.estimator(tmp_path)
    est.train(input_fn, max_steps=6)
    check_training(est, 6)


def test_a_session_config_needs_no_soft_placement(tmp_path):
    est = harness.estimator(tmp_path, session_config=tf1.ConfigProto())
    est.train(harness.input_fn, max_steps=6)
    check_training(est, 6)


class OwnMomentum(tf1.train.Optimizer):
    """Momentum that knows nothing of strategies, like the optimizers of BERT."""

    def __init__(self):
        super().__init__(False, "OwnMomentum")

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        updates = []
        for gradient, variable in grads_and_vars:
            velocity = tf1.get_variable(
                variable.name.split(":")[0] + "/velocity",
                variable.shape.as_list(),
                trainable=False,
                initializer=tf1.zeros_initializer(),
            )
            following = harness.MOMENTUM * velocity + gradient
            updates.append(velocity.assign(following))
            updates.append(variable.assign(variable - harness.RATE * following))
        updates.append(global_step.assign_add(1))
        return tf.group(*updates, name=name)


class DoublingMomentum(tf1.train.MomentumOptimizer):
    """An optimizer of TensorFlow's that changes the gradients first."""

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        doubled = [(2.0 * gradient, variable) for gradient, variable in grads_and_vars]
        return super().apply_gradients(doubled, global_step, name)


@pytest.mark.parametrize(
    "make", [OwnMomentum, lambda: DoublingMomentum(harness.RATE / 2, harness.MOMENTUM)]
)
def test_optimizers_may_override_apply_gradients(tmp_path, make):
    est = harness.estimator(tmp_path, params={"optimizer": make})
    est.train(harness.input_fn, max_steps=6)
    check_training(est, 6)
    slots = [name for name in est.get_variable_names() if name.count("/") == 2]
    assert len(slots) == 2
    assert est.latest_checkpoint() and not list(tmp_path.glob("*-of-00002"))


def test_a_variable_keeps_what_the_first_replica_assigns(tmp_path):
    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params)
        last = tf1.get_variable("last", [], initializer=tf1.zeros_initializer(), trainable=False)
        seen = last.assign(tf.reduce_sum(features["x"]))
        return spec._replace(train_op=tf.group(spec.train_op, seen))

    est = harness.estimator(tmp_path, model_fn)
    est.train(harness.input_fn, max_steps=5)
    first = harness.X[(4 * 16) % 64 : (4 * 16) % 64 + 2]
    np.testing.assert_allclose(est.get_variable_value("last"), first.sum(), rtol=1e-5)


def test_host_call_gets_the_tensors_of_every_step_and_replica(tmp_path):
    steps, losses = [], []

    def host_fn(step, loss):
        def keep(step, loss):
            steps.append(step.tolist())
            losses.append(loss.tolist())
            return np.int32(0)

        return tf1.py_func(keep, [step, loss], tf.int32)

    def fields(loss):
        step = tf.reshape(tf1.train.get_global_step(), [1])
        return {"host_call": (host_fn, [step, tf.reshape(loss, [1])])}

    est = harness.estimator(tmp_path, params={"fields": fields})
    est.train(harness.input_fn, max_steps=6)
    assert [len(each) for each in losses] == [8] * 6 and len(steps) == 6
    np.testing.assert_allclose(
        np.mean(losses, axis=1), harness.trained_by_numpy(6, 16)[2], rtol=1e-4
    )


def test_host_call_writes_summaries(tmp_path):
    """Its writers of ``tf.contrib.summary`` are initialized by the TPUEstimator's hooks."""
    summary = drop_in("contrib").contrib.summary

    def host_fn(step, loss):
        with summary.create_file_writer(str(tmp_path / "host")).as_default():
            with summary.always_record_summaries():
                summary.scalar("loss", tf.reduce_mean(loss), step=step[0])
                return summary.all_summary_ops()

    def fields(loss):
        step = tf.reshape(tf1.train.get_global_step(), [1])
        return {"host_call": (host_fn, [step, tf.reshape(loss, [1])])}

    est = harness.estimator(tmp_path / "model", params={"fields": fields})
    est.train(harness.input_fn, max_steps=6)
    (events,) = (tmp_path / "host").iterdir()
    losses = [
        tf.make_ndarray(value.tensor).item() if value.HasField("tensor") else value.simple_value
        for event in tf1.train.summary_iterator(str(events))
        for value in event.summary.value
    ]
    np.testing.assert_allclose(losses, harness.trained_by_numpy(6, 16)[2], rtol=1e-4)


@pytest.mark.skipif(
    "experimental_host_call_every_n_steps" not in tpu.TPUConfig._fields, reason="1.15"
)
def test_host_call_may_run_at_every_third_step_of_a_loop(tmp_path):
    steps = []

    def host_fn(step):
        return tf1.py_func(lambda step: steps.append(step[0]) or np.int32(0), [step], tf.int32)

    def fields(loss):
        return {"host_call": (host_fn, [tf.reshape(tf1.train.get_global_step(), [1])])}

    est = harness.estimator(
        tmp_path, params={"fields": fields}, experimental_host_call_every_n_steps=3
    )
    est.train(harness.input_fn, max_steps=8)
    first = steps[0]
    assert [step - first for step in steps] == [0, 3, 4, 7]


def test_scaffold_fn_and_training_hooks_are_used(tmp_path):
    harness.estimator(tmp_path / "first").train(harness.input_fn, max_steps=4)
    hook = harness.Losses()

    def model_fn(features, labels, mode, params):
        spec = harness.model_fn(features, labels, mode, params)

        def scaffold_fn():
            tf1.train.init_from_checkpoint(
                str(tmp_path / "first"), {"linear/w": "linear/w", "linear/b": "linear/b"}
            )
            return tf1.train.Scaffold()

        return spec._replace(scaffold_fn=scaffold_fn, training_hooks=(hook,))

    est = harness.estimator(tmp_path / "second", model_fn)
    est.train(harness.input_fn, max_steps=4)
    start = harness.trained_by_numpy(4, 16)[:2]
    check_training(est, 4, start=start)
    assert len(hook.losses) == 1


def test_each_replica_has_its_number(tmp_path):
    hook = harness.Losses()

    def model_fn(features, labels, mode, params):
        number = get_tower_context().tower_id
        spec = harness.model_fn(features, labels, mode, params)
        return spec._replace(loss=spec.loss * 0 + tf.cast(number, tf.float32))

    est = harness.estimator(tmp_path, model_fn)
    est.train(harness.input_fn, max_steps=1, hooks=[hook])
    assert hook.losses == [np.mean(range(8))]


@pytest.mark.slow
def test_variables_start_from_another_checkpoint(tmp_path):
    harness.estimator(tmp_path / "first").train(harness.input_fn, max_steps=4)
    est = harness.estimator(
        tmp_path / "second",
        warm_start_from=estimator.WarmStartSettings(str(tmp_path / "first"), "linear/[wb]"),
    )
    est.train(harness.input_fn, max_steps=4)
    check_training(est, 4, start=harness.trained_by_numpy(4, 16)[:2])


def test_training_without_a_tpu(tmp_path):
    est = harness.estimator(tmp_path, use_tpu=False)
    est.train(harness.input_fn, max_steps=6)
    check_training(est, 6)


@pytest.mark.slow
@pytest.mark.parametrize("era", surfaces.ERAS)
def test_every_eras_optimizer_sums_over_the_replicas(tmp_path, era):
    spelled = dropin.top(era, "compat.v1")

    def make():
        inner = tf1.train.MomentumOptimizer(harness.RATE, harness.MOMENTUM)
        return spelled.tpu.CrossShardOptimizer(inner)

    est = harness.estimator(tmp_path, params={"optimizer": make, "unsummed": True})
    est.train(harness.input_fn, max_steps=4)
    check_training(est, 4)


class EverySecondStep(tf1.train.GradientDescentOptimizer):
    """Applies gradients in a branch, which cores take in every second step."""

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        def apply():
            with tf.control_dependencies([super(EverySecondStep, self).apply_gradients(pairs)]):
                return tf.constant(True)

        pairs = list(grads_and_vars)
        done = tf.cond(tf.equal(global_step % 2, 0), apply, lambda: tf.constant(False))
        with tf.control_dependencies([done]):
            return tf1.assign_add(global_step, 1).op


@cores.virtual_only
@pytest.mark.skipif(not versions.TRACES_AS_FIRST, reason="on 1.13 cores do not meet in a branch")
def test_cores_meet_in_a_branch(tmp_path):
    params = {"optimizer": lambda: EverySecondStep(harness.RATE)}
    est = harness.estimator(tmp_path, params=params)
    est.train(harness.input_fn, max_steps=6)
    w, b = np.zeros((4, 1)), np.zeros(1)
    for step in (0, 2, 4):
        rows = np.arange(16 * step, 16 * (step + 1)) % 64
        error = harness.X[rows].dot(w) + b - harness.Y[rows]
        w = w - harness.RATE * 2 * harness.X[rows].T.dot(error) / 16
        b = b - harness.RATE * 2 * error.mean(axis=0)
    np.testing.assert_allclose(est.get_variable_value("linear/w"), w, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(est.get_variable_value("linear/b"), b, rtol=1e-4, atol=1e-6)
    assert est.get_variable_value("global_step") == 6
