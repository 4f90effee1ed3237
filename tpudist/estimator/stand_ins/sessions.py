"""Runs the Sessions of the stand-in for ``tf.estimator.Estimator``.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/Estimator.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

import numpy as np
import tensorflow as tf

from tpudist.errors import ArgumentError
from tpudist.tfcompat import estimators

if TYPE_CHECKING:
    from tpudist.core.annotations import (
        Nest,
        RunConfig,
        SaverListener,
        SessionRunHook,
        Tensor,
        Variable,
    )
    from tpudist.estimator.stand_ins.specs import EstimatorSpec

_v1 = tf.compat.v1
_keys = tf.compat.v1.GraphKeys


def train(
    config: RunConfig,
    spec: EstimatorSpec,
    global_step: Variable,
    hooks: list[SessionRunHook],
    listeners: list[SaverListener],
) -> Any:
    """Runs a training to its end.

    Args:
      config: the ``RunConfig``.
      spec: the checked specification.
      global_step: the variable.
      hooks: the hooks of the input, of the caller and of the number of steps.
      listeners: the listeners of the checkpoint saver.

    Returns:
      The last loss; None if there was no step.
    """
    summaries = _v1.get_collection(_keys.SUMMARIES)
    if not any(summary.op.name == "loss" for summary in summaries):
        _v1.summary.scalar("loss", spec.loss)
    _v1.add_to_collection(_keys.LOSSES, spec.loss)
    hooks = hooks + [_v1.train.NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        logged = {"loss": spec.loss, "step": global_step}
        hooks.append(_v1.train.LoggingTensorHook(logged, every_n_iter=config.log_step_count_steps))
    hooks += list(spec.training_hooks)
    _add_saver(config, spec)
    chief_hooks = list(spec.training_chief_hooks) + _saver_hooks(config, spec, hooks, listeners)
    with _v1.train.MonitoredTrainingSession(
        checkpoint_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=hooks,
        chief_only_hooks=chief_hooks,
        save_checkpoint_secs=0,
        save_summaries_steps=config.save_summary_steps,
        config=config.session_config,
        log_step_count_steps=config.log_step_count_steps,
        save_graph_def=config.checkpoint_save_graph_def,
    ) as session:
        loss = None
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
    if loss is None:
        _v1.logging.warning(
            "Training with estimator made no steps. Perhaps input is empty or misspecified."
        )
    return loss


def _add_saver(config: RunConfig, spec: EstimatorSpec) -> None:
    """Adds a saver with the config's options, unless the model function made one."""
    if spec.scaffold.saver or _v1.get_collection(_keys.SAVERS):
        return
    saver = _v1.train.Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
    )
    _v1.add_to_collection(_keys.SAVERS, saver)


def _saver_hooks(
    config: RunConfig,
    spec: EstimatorSpec,
    hooks: list[SessionRunHook],
    listeners: list[SaverListener],
) -> list[SessionRunHook]:
    """Returns the hook that saves checkpoints, if no other hook does; adds the listeners."""
    savers = [
        hook
        for hook in hooks + list(spec.training_chief_hooks)
        if isinstance(hook, _v1.train.CheckpointSaverHook)
    ]
    added = []
    if not savers and (config.save_checkpoints_secs or config.save_checkpoints_steps):
        added = [
            _v1.train.CheckpointSaverHook(
                config.model_dir,
                save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps,
                scaffold=spec.scaffold,
            )
        ]
    if listeners and not savers + added:
        raise ArgumentError(
            "saving_listeners and no checkpoints",
            "There should be a CheckpointSaverHook to use saving_listeners",
            "RunConfig(save_checkpoints_steps=100)",
        )
    for hook in (savers + added)[:1]:
        hook._listeners.extend(each for each in listeners if each not in hook._listeners)
    return added


def evaluate(
    config: RunConfig,
    spec: EstimatorSpec,
    global_step: Variable,
    hooks: list[SessionRunHook],
    checkpoint_path: str | None,
    folder: str,
) -> dict[str, Any]:
    """Runs an evaluation to its end; arguments as of :func:`train`.

    Args:
      checkpoint_path: the checkpoint to evaluate; None for initial values.
      folder: the folder of the summaries.

    Returns:
      ``{name: value}``.
    """
    metrics = {name: _value_and_update(metric) for name, metric in spec.eval_metric_ops.items()}
    reserved = {"loss", _keys.GLOBAL_STEP} & set(metrics)
    if reserved:
        raise ArgumentError(
            "a metric named %r" % sorted(reserved)[0],
            "the Estimator adds a result of that name itself",
            "another name",
        )
    metrics["loss"] = _v1.metrics.mean(spec.loss)
    values = {name: value for name, (value, _) in metrics.items()}
    values[_keys.GLOBAL_STEP] = global_step
    scaffold = spec.scaffold
    if scaffold.local_init_op is not None:
        estimators.eval_step()
        init_op = tf.group(scaffold.local_init_op, _v1.train.Scaffold.default_local_init_op())
        scaffold = _v1.train.Scaffold(local_init_op=init_op, copy_from_scaffold=scaffold)
    results = estimators.evaluate_once(
        checkpoint_path=checkpoint_path,
        scaffold=scaffold,
        eval_ops=tf.group(*[update for _, update in metrics.values()]),
        final_ops=values,
        hooks=hooks + list(spec.evaluation_hooks),
        config=config.session_config,
    )
    _write_summaries(folder, results)
    return results


def _value_and_update(metric: Any) -> tuple[Tensor, Any]:
    """Returns (value, update op) of a metric, which is that pair or a Keras metric."""
    if hasattr(metric, "update_state"):
        updates = getattr(metric, "updates", None)
        return metric.result(), updates[0] if updates else tf.no_op()
    value, update = metric
    return value, update


def _write_summaries(folder: str, results: dict[str, Any]) -> None:
    """Logs the results of an evaluation, and writes them as summaries."""
    text = ", ".join("%s = %s" % item for item in sorted(results.items()))
    _v1.logging.info("Saving dict for global step %d: %s", results[_keys.GLOBAL_STEP], text)
    summary = _v1.Summary()
    for name, value in results.items():
        if name == _keys.GLOBAL_STEP:
            continue
        if isinstance(value, (int, float, np.floating, np.integer)):
            summary.value.add(tag=name, simple_value=float(value))
        elif isinstance(value, bytes):  # A serialized image summary.
            summary.value.extend(
                _v1.Summary.Value(tag="%s/%s" % (name, image.tag), image=image.image)
                for image in _v1.Summary.FromString(value).value
            )
        elif isinstance(value, np.ndarray):
            summary.value.add(tag=name).tensor.CopyFrom(tf.make_tensor_proto(value))
    with tf.Graph().as_default():
        writer = _v1.summary.FileWriterCache.get(folder)
        writer.add_summary(summary, results[_keys.GLOBAL_STEP])
        writer.flush()


def select_predictions(predictions: Nest, names: Any) -> Nest:
    """Returns those of a dictionary of predictions that `names` lists; all without names.

    Raises:
      ArgumentError: (a ValueError) there is none of them.
    """
    if not names:
        return predictions
    if not isinstance(predictions, dict):
        raise ArgumentError(
            "predict_keys=%r of predictions that are no dictionary" % (names,),
            "predict_keys argument is not valid in case of non-dict predictions",
            "predict_keys=None",
        )
    selected = {name: tensor for name, tensor in predictions.items() if name in names}
    if not selected:
        raise ArgumentError(
            "predict_keys=%r" % (names,),
            "Expected to run at least one output from %s" % sorted(predictions),
            "predict_keys=%r" % sorted(predictions)[:1],
        )
    return selected


def predict(
    config: RunConfig,
    spec: EstimatorSpec,
    predictions: Nest,
    hooks: list[SessionRunHook],
    checkpoint_path: str | None,
) -> Iterator[Any]:
    """Yields the predictions of each batch, as arrays."""
    creator = _v1.train.ChiefSessionCreator(
        checkpoint_filename_with_path=checkpoint_path,
        scaffold=spec.scaffold,
        config=config.session_config,
    )
    graph = _v1.get_default_graph()

    def batches() -> Iterator[Any]:
        with graph.as_default(), _v1.train.MonitoredSession(
            session_creator=creator, hooks=hooks + list(spec.prediction_hooks)
        ) as session:
            while not session.should_stop():
                yield session.run(predictions)

    return batches()


def examples(batch: Any) -> Iterator[Any]:
    """Yields the examples of a batch of predictions.

    Raises:
      ArgumentError: (a ValueError) predictions of different lengths.
    """
    if not isinstance(batch, dict):
        yield from batch
        return
    sizes = {name: array.shape[0] for name, array in batch.items()}
    if len(set(sizes.values())) > 1:
        raise ArgumentError(
            "predictions of lengths %s" % sizes,
            "Batch length of predictions should be same",
            "predict(..., yield_single_examples=False)",
        )
    for i in range(next(iter(sizes.values()), 0)):
        yield {name: array[i] for name, array in batch.items()}


def check_steps(**arguments: int | None) -> None:
    """Refuses both `steps` and `max_steps`, and a number below 1.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    numbers = {name: value for name, value in arguments.items() if value is not None}
    if len(numbers) > 1:
        raise ArgumentError(
            " and ".join("%s=%r" % item for item in sorted(numbers.items())),
            "Can not provide both steps and max_steps",
            "one of them",
        )
    for name, value in numbers.items():
        if value <= 0:
            raise ArgumentError(
                "%s=%r" % (name, value), "Must specify %s > 0" % name, "%s=1000" % name
            )
