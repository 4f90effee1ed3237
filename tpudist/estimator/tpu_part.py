"""The TPU part of a TPUEstimator: one training, evaluation and prediction for all releases.

A model function on the cores becomes the ``EstimatorSpec`` of an Estimator that knows no
TPU: its training op is a loop of steps, its metrics take the batch of all cores.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentTypeError
from tpudist.estimator import (
    host_calls,
    infeed,
    model_summaries,
    names,
    padding,
    refused,
    replica_programs,
    tpu_hooks,
)
from tpudist.estimator.replica_programs import Program, require_tensor
from tpudist.tfcompat import estimators, nests

if TYPE_CHECKING:
    from typing import Any

_v1 = tf.compat.v1.train


class Model:
    """A model function and what feeds its replicas.

    Args:
      strategy: the strategy of the cores.
      fed: its `Feeding`.
      model_fn: ``model_fn(features, labels)``: returns a ``TPUEstimatorSpec``.
      input_fn: ``input_fn(TPUContext)``.
      batch_axis: see `Infeed`.
    """

    def __init__(
        self, strategy: Any, fed: Any, model_fn: Any, input_fn: Any, batch_axis: Any = None
    ) -> None:
        self._strategy = strategy
        self._feeding = fed
        self._model_fn = model_fn
        self._input_fn = input_fn
        self._batch_axis = batch_axis

    @property
    def global_batch(self) -> int:
        """Examples of a step, over all cores."""
        return int(self._feeding.global_batch)

    def _fed_by(self, kind: Any) -> Any:
        return kind(self._strategy, self._feeding, self._input_fn, self._batch_axis)

    def train(self, every_n_steps: int = 1) -> tuple[Program, Any, list[Any], Any]:
        """Builds the loop of training steps.

        Args:
          every_n_steps: after how many steps of a loop the host's function is called again.

        Returns:
          The program; the loss of the last step, the mean of the cores'; hooks; the loop.
        """
        fed, outfeed = self._fed_by(infeed.Infeed), []

        def values(spec: Any) -> dict[str, Any]:
            refused.check_spec(spec, "train")
            loss = require_tensor("loss", spec.loss)
            model_summaries.tell(tf.compat.v1.get_default_graph().get_operations())
            found = {"loss": _after(spec.train_op, loss)}
            return dict(found, **_for_host(spec, ("host_call",)))

        def use(outputs: Any, found: dict[str, Any]) -> None:
            outputs.set_tensor("loss", found["loss"], "MEAN")
            if "host_call" in found:
                refused.check_host_call(outputs.on_a_tpu)
                outfeed.append(host_calls.Outfeed(*program.spec.host_call))
                outfeed[0].send(program.joined(found["host_call"]))

        program = Program(self._strategy, self._model_fn, values)
        loop = program.run(fed, tpu_hooks.iterations(), use)
        replica_programs.require_sums(self._strategy)
        hooks = [tpu_hooks.DatasetInitializerHook(fed.initializers)]
        hooks += [_host_hook(each, every_n_steps) for each in outfeed]
        return program, program.outputs.tensors["loss"], hooks, loop

    def evaluate(self) -> tuple[Program, Any, dict[str, Any], list[Any]]:
        """Builds one step of evaluation.

        Returns:
          The program; the step's loss; ``{name: metric}`` over the batch of all cores; hooks.
        """
        fed = self._fed_by(infeed.Infeed)

        def values(spec: Any) -> dict[str, Any]:
            refused.check_spec(spec, "eval")
            found = {"loss": require_tensor("loss", spec.loss)}
            return dict(found, **_for_host(spec, ("eval_metrics", "host_call")))

        def use(outputs: Any, found: dict[str, Any]) -> None:
            outputs.set_tensor("loss", found.pop("loss"), "MEAN")
            outputs.set_tensor("host", found, "NONE")

        program = Program(self._strategy, self._model_fn, values)
        loop = program.run(fed, 1, use)
        hooks = [tpu_hooks.DatasetInitializerHook(fed.initializers)]
        with tf.control_dependencies([loop]):
            loss = tf.identity(program.outputs.tensors["loss"])
        joined = _joined(program.outputs.tensors["host"])
        metrics = {}
        if "eval_metrics" in joined:
            metrics = host_calls.call(program.spec.eval_metrics[0], joined["eval_metrics"])
        if "host_call" in joined:
            outfeed = host_calls.Outfeed(*program.spec.host_call)
            with tf.control_dependencies([outfeed.send(joined["host_call"])]):
                loss = tf.identity(loss)
            hooks.append(_host_hook(outfeed))
        return program, loss, metrics, hooks

    def predict(self) -> tuple[Program, Any, list[Any]]:
        """Builds one step of prediction.

        Returns:
          The program; the predictions of all cores, in order and without padding; hooks.
        """
        fed = self._fed_by(padding.PaddedInfeed)
        model_fn = self._model_fn

        def values(spec: Any) -> dict[str, Any]:
            refused.check_spec(spec, "infer")
            return dict(_for_host(spec, ("host_call",)), predictions=spec.predictions)

        def use(outputs: Any, found: dict[str, Any]) -> None:
            outputs.set_tensor("host", found, "NONE")

        @functools.wraps(model_fn)
        def with_mask(features: Any, mask: Any) -> Any:
            del masks[:]
            masks.append(mask)
            return model_fn(features, None)

        masks: list[Any] = []
        program = Program(self._strategy, with_mask, lambda spec: dict(values(spec), mask=masks[0]))
        program.run(fed, 1, use)
        joined = _joined(program.outputs.tensors["host"])
        mask = joined["mask"]
        rows = tf.reduce_sum(tf.cast(mask, tf.int32))
        hooks: list[Any] = [tpu_hooks.DatasetInitializerHook(fed.initializers)]
        if "host_call" in joined:
            outfeed = host_calls.Outfeed(*program.spec.host_call)
            send = functools.partial(outfeed.send, joined["host_call"])
            with tf.control_dependencies([tf.cond(rows > 0, send, tf.no_op)]):
                rows = tf.identity(rows)
            hooks.append(_host_hook(outfeed))
        hooks.append(tpu_hooks.EndOfInputHook(rows))
        return program, padding.cut(joined["predictions"], mask), hooks


def _for_host(spec: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """{field: the tensors that it sends the host} of those of a specification that it has."""
    found = {}
    for name in names:
        if getattr(spec, name, None):
            host_calls.require_batches(name, getattr(spec, name)[1])
            found[name] = getattr(spec, name)[1]
    return found


def _host_hook(outfeed: Any, every_n_steps: int = 1) -> Any:
    """The hook that calls the host's function with what the steps have sent."""
    waiting, ops, left_out = outfeed.host_ops()
    return tpu_hooks.OutfeedHook(waiting, ops, left_out, every_n_steps)


def _after(op: Any, loss: Any) -> Any:
    if op is None:
        raise ArgumentTypeError(
            "the model function's specification has no train_op",
            "a training step is the op that updates the variables",
            "train_op=optimizer.minimize(loss, tf.train.get_global_step())",
        )
    with tf.control_dependencies([op]):
        return tf.identity(loss)


def _joined(per_replica: Any) -> Any:
    """The nest of a list with a nest for each replica: the tensors one after the other."""
    if not isinstance(per_replica, list):
        return per_replica
    return nests.map_structure(lambda *leaves: replica_programs.join(leaves), *per_replica)


def train_spec(estimator: Any, model: Model, config: Any) -> Any:
    """The ``EstimatorSpec`` of a training.

    Args:
      estimator: has ``model_dir`` and ``log_every_n_steps``.
      model: the `Model`.
      config: the ``RunConfig``.
    """
    every = refused.host_call_every(config.tpu_config)
    program, loss, hooks, loop = model.train(every)
    scaffold = program.scaffold() or _v1.Scaffold()
    per_loop = config.tpu_config.iterations_per_loop
    logged, log_hooks = _log_hooks(estimator, loss, model.global_batch, per_loop)
    summaries = scaffold if config.save_summary_steps else None
    hooks += [tpu_hooks.FetchAllHook(logged, summaries), *log_hooks]
    hooks += list(program.spec.training_hooks or ())
    chief = []
    if config.save_checkpoints_secs or config.save_checkpoints_steps:
        saver = _v1.CheckpointSaverHook(
            estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            scaffold=scaffold,
        )
        chief = [estimators.step_hook_of_loops(saver, per_loop)]
    return names.load("EstimatorSpec")(
        mode="train",
        loss=loss,
        train_op=loop,
        training_hooks=hooks,
        training_chief_hooks=chief,
        scaffold=scaffold,
    )


def eval_spec(unused_estimator: Any, model: Model, unused_config: Any) -> Any:
    """The ``EstimatorSpec`` of an evaluation; arguments as of :func:`train_spec`."""
    program, loss, metrics, hooks = model.evaluate()
    return names.load("EstimatorSpec")(
        mode="eval",
        loss=loss,
        eval_metric_ops=metrics,
        evaluation_hooks=hooks + list(program.spec.evaluation_hooks or ()),
        scaffold=program.scaffold(),
    )


def predict_spec(unused_estimator: Any, model: Model, unused_config: Any) -> Any:
    """The ``EstimatorSpec`` of a prediction; arguments as of :func:`train_spec`."""
    program, predictions, hooks = model.predict()
    return names.load("EstimatorSpec")(
        mode="infer",
        predictions=predictions,
        prediction_hooks=hooks + list(program.spec.prediction_hooks or ()),
        scaffold=program.scaffold(),
    )


def _log_hooks(estimator: Any, loss: Any, batch: int, per_loop: int) -> tuple[list[Any], list[Any]]:
    """The tensors that are logged, and hooks that log them and speed, rounded to whole loops."""
    every = estimator.log_every_n_steps
    if every is None:
        return [], []
    with tf.control_dependencies([loss]):
        step = tf.identity(_v1.get_global_step())
    speed = tpu_hooks.ExamplesPerSecondHook(
        batch, every_n_steps=every, output_dir=estimator.model_dir
    )
    logged = {"loss": tf.identity(loss), "step": step}
    return list(logged.values()), [
        _v1.LoggingTensorHook(logged, every_n_iter=-(-every // per_loop)),
        estimators.step_hook_of_loops(speed, per_loop),
    ]
