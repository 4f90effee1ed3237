"""Builds the ``EstimatorSpec`` of a model function that runs on the replicas of a TPU.

The Estimator that runs it need not know of the TPU: the training op is a loop of steps, and
metrics and predictions are over the batch of all replicas.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable

import tensorflow as tf

from tpudist import adapter
from tpudist.errors import ArgumentTypeError
from tpudist.estimator import host_calls, infeed, lookup, step_loop, unsupported
from tpudist.estimator.step_loop import StepLoop
from tpudist.tfcompat import estimators, nests

if TYPE_CHECKING:
    from tpudist.annotations import EstimatorSpec, Fn, RunConfig, Scaffold, SessionRunHook
    from tpudist.tfcompat.annotations import Nest, Operation, Strategy, Tensor

_v1 = tf.compat.v1
_SessionRunHook: Any = _v1.train.SessionRunHook


class ReplicatedModel:
    """A model function on the replicas of a strategy, with its input function."""

    def __init__(
        self,
        strategy: Strategy,
        feeding: infeed.Feeding,
        model_fn: Fn,
        input_fn: Callable[[infeed.TPUContext], Any],
        batch_axis: object = None,
    ) -> None:
        self._strategy = strategy
        self._feeding = feeding
        self._model_fn = model_fn
        self._input_fn = input_fn
        self._batch_axis = batch_axis

    def _infeed(self, kind: type[infeed.Infeed]) -> infeed.Infeed:
        return kind(self._strategy, self._feeding, self._input_fn, self._batch_axis)

    def train_spec(
        self, folder: str, log_every_n_steps: int | None, config: RunConfig
    ) -> EstimatorSpec:
        """Builds the specification of a training, which logs every so many steps, or never."""
        interval = host_calls.interval(config.tpu_config)
        loop, loss, train_op, hooks = self._training_loop(interval)
        scaffold = loop.scaffold() or _v1.train.Scaffold()
        per_loop = config.tpu_config.iterations_per_loop
        batch_size = self._feeding.global_batch_size
        logged, log_hooks = _log_hooks(folder, log_every_n_steps, loss, batch_size, per_loop)
        hooks.append(SameFetchesHook(logged, scaffold if config.save_summary_steps else None))
        return lookup.load("EstimatorSpec")(
            mode="train",
            loss=loss,
            train_op=train_op,
            training_hooks=hooks + log_hooks + list(loop.spec.training_hooks or ()),
            training_chief_hooks=_saver_hooks(folder, config, scaffold),
            scaffold=scaffold,
        )

    def _training_loop(self, interval: int) -> tuple[StepLoop, Tensor, Any, list[SessionRunHook]]:
        """Returns the loop, the mean loss of its last step, its op, and the hooks it needs."""
        batches, outfeeds = self._infeed(infeed.Infeed), []

        def replica_outputs(spec: EstimatorSpec) -> dict[str, Any]:
            unsupported.check_spec(spec, "train")
            loss = step_loop.require_tensor("loss", spec.loss)
            unsupported.warn_of_summaries(_v1.get_default_graph().get_operations())
            return {"loss": _after(spec.train_op, loss), **_host_tensors(spec, "host_call")}

        def set_outputs(outputs: Any, values: dict[str, Any]) -> None:
            outputs.set_tensor("loss", values["loss"], "MEAN")
            if "host_call" in values:
                unsupported.check_host_call(outputs.on_a_tpu)
                outfeeds.append(host_calls.Outfeed(*loop.spec.host_call))
                outfeeds[0].send(loop.concatenated(values["host_call"]))

        loop = StepLoop(self._strategy, self._model_fn, replica_outputs)
        train_op = loop.build(batches, step_loop.iterations_per_loop(), set_outputs)
        step_loop.require_cross_replica_sum(self._strategy)
        unsupported.check_hooks(loop.spec, "training_hooks")
        hooks = [batches.hook()] + [outfeed.hook(interval) for outfeed in outfeeds]
        return loop, loop.outputs.tensors["loss"], train_op, hooks

    def eval_spec(self) -> EstimatorSpec:
        """Builds the specification of an evaluation: each batch is a loop of one step."""
        batches = self._infeed(infeed.Infeed)

        def replica_outputs(spec: EstimatorSpec) -> dict[str, Any]:
            unsupported.check_spec(spec, "eval")
            loss = step_loop.require_tensor("loss", spec.loss)
            return {"loss": loss, **_host_tensors(spec, "eval_metrics", "host_call")}

        def set_outputs(outputs: Any, values: dict[str, Any]) -> None:
            outputs.set_tensor("loss", values.pop("loss"), "MEAN")
            outputs.set_tensor("host", values, "NONE")

        loop = StepLoop(self._strategy, self._model_fn, replica_outputs)
        step = loop.build(batches, 1, set_outputs)
        unsupported.check_hooks(loop.spec, "evaluation_hooks")
        hooks = [batches.hook()]
        with tf.control_dependencies([step]):
            loss = tf.identity(loop.outputs.tensors["loss"])
        host = _concatenated(self._strategy, loop.outputs.tensors["host"])
        metrics: object = {}
        if "eval_metrics" in host:
            metrics = host_calls.call(loop.spec.eval_metrics[0], host["eval_metrics"])
        if "host_call" in host:
            outfeed = host_calls.Outfeed(*loop.spec.host_call)
            with tf.control_dependencies([outfeed.send(host["host_call"])]):
                loss = tf.identity(loss)
            hooks.append(outfeed.hook())
        return lookup.load("EstimatorSpec")(
            mode="eval",
            loss=loss,
            eval_metric_ops=metrics,
            evaluation_hooks=hooks + list(loop.spec.evaluation_hooks or ()),
            scaffold=loop.scaffold(),
        )

    def predict_spec(self) -> EstimatorSpec:
        """Builds the specification of a prediction, in order and without padding."""
        batches = self._infeed(infeed.PaddedInfeed)
        masks: list[Tensor] = []

        @functools.wraps(self._model_fn)
        def model_fn(features: Nest, mask: Tensor) -> EstimatorSpec:
            masks[:] = [mask]
            return self._model_fn(features, None)

        def replica_outputs(spec: EstimatorSpec) -> dict[str, Any]:
            unsupported.check_spec(spec, "infer")
            outputs = _host_tensors(spec, "host_call")
            return dict(outputs, predictions=spec.predictions, mask=masks[0])

        def set_outputs(outputs: Any, values: dict[str, Any]) -> None:
            outputs.set_tensor("host", values, "NONE")

        loop = StepLoop(self._strategy, model_fn, replica_outputs)
        loop.build(batches, 1, set_outputs)
        unsupported.check_hooks(loop.spec, "prediction_hooks")
        host = _concatenated(self._strategy, loop.outputs.tensors["host"])
        num_rows = tf.reduce_sum(tf.cast(host["mask"], tf.int32))
        hooks: list[SessionRunHook] = [batches.hook()]
        if "host_call" in host:
            outfeed = host_calls.Outfeed(*loop.spec.host_call)
            send = functools.partial(outfeed.send, host["host_call"])
            with tf.control_dependencies([tf.cond(num_rows > 0, send, tf.no_op)]):
                num_rows = tf.identity(num_rows)
            hooks.append(outfeed.hook())
        predictions = infeed.remove_padding(host["predictions"], host["mask"])
        batch_size = host["mask"].shape.as_list()[0]
        hooks.append(infeed.PaddingHook(num_rows, host["predictions"], batch_size))
        return lookup.load("EstimatorSpec")(
            mode="infer",
            predictions=predictions,
            prediction_hooks=hooks + list(loop.spec.prediction_hooks or ()),
            scaffold=loop.scaffold(),
        )


class SameFetchesHook(_SessionRunHook):
    """Fetches in every run of the Session what other hooks fetch in some runs.

    A Session compiles a graph for each set of fetches; with this hook there is one set. The
    summaries of `scaffold`, if there is one, are fetched too.
    """

    def __init__(self, tensors: list[Tensor], scaffold: Scaffold | None) -> None:
        self._tensors = tensors
        self._scaffold = scaffold

    def before_run(self, run_context: object) -> object:
        summaries = None if self._scaffold is None else self._scaffold.summary_op
        return _v1.train.SessionRunArgs([self._tensors, [] if summaries is None else summaries])


class ExamplesPerSecondHook(estimators.StepCounterHook):
    """Logs ``examples/sec`` beside ``global_step/sec``, and writes both as summaries."""

    def __init__(self, batch_size: int, **options: Any) -> None:
        self._batch_size = batch_size
        super().__init__(**options)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        steps_per_second = elapsed_steps / elapsed_time
        rates = {
            "global_step/sec": steps_per_second,
            "examples/sec": steps_per_second * self._batch_size,
        }
        for tag, rate in rates.items():
            if self._summary_writer is not None:
                value = _v1.Summary.Value(tag=tag, simple_value=rate)
                self._summary_writer.add_summary(_v1.Summary(value=[value]), global_step)
            _v1.logging.info("%s: %g", tag, rate)


def _host_tensors(spec: EstimatorSpec, *fields: str) -> dict[str, Any]:
    """Returns ``{field: its tensors}`` of those fields (function, tensors) that `spec` has."""
    tensors = {}
    for field in fields:
        if getattr(spec, field, None):
            tensors[field] = getattr(spec, field)[1]
            host_calls.refuse_scalars(field, tensors[field])
    return tensors


def _after(op: Operation | None, loss: Tensor) -> Tensor:
    """Returns the loss of a training step, which is read after the step's op has run."""
    if op is None:
        raise ArgumentTypeError(
            "the model function's specification has no train_op",
            "a training step is the op that updates the variables",
            "train_op=optimizer.minimize(loss, tf.train.get_global_step())",
        )
    with tf.control_dependencies([op]):
        return tf.identity(loss)


def _concatenated(strategy: Strategy, per_replica: object) -> dict[str, Any]:
    """Concatenates the tensors of a list with one nest for each replica."""
    rows = per_replica if isinstance(per_replica, list) else [per_replica]
    return nests.map_structure(lambda *leaves: adapter.concatenated(strategy, leaves), *rows)


def _saver_hooks(folder: str, config: RunConfig, scaffold: Scaffold) -> list[SessionRunHook]:
    """Returns the hook that saves checkpoints after whole loops, if the config asks for it."""
    if not (config.save_checkpoints_secs or config.save_checkpoints_steps):
        return []
    saver = _v1.train.CheckpointSaverHook(
        folder,
        save_secs=config.save_checkpoints_secs,
        save_steps=config.save_checkpoints_steps,
        scaffold=scaffold,
    )
    return [estimators.step_hook_of_loops(saver, config.tpu_config.iterations_per_loop)]


def _log_hooks(
    folder: str, every_n_steps: int | None, loss: Tensor, batch_size: int, per_loop: int
) -> tuple[list[Tensor], list[SessionRunHook]]:
    """Returns the logged tensors, and hooks that log them, and the speed, after whole loops."""
    if every_n_steps is None:
        return [], []
    with tf.control_dependencies([loss]):
        step = tf.identity(_v1.train.get_global_step())
    speed = ExamplesPerSecondHook(batch_size, every_n_steps=every_n_steps, output_dir=folder)
    logged = {"loss": tf.identity(loss), "step": step}
    return list(logged.values()), [
        _v1.train.LoggingTensorHook(logged, every_n_iter=-(-every_n_steps // per_loop)),
        estimators.step_hook_of_loops(speed, per_loop),
    ]
