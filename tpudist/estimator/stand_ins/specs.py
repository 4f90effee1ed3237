"""Stands in for ``ModeKeys``, ``EstimatorSpec`` and ``TPUEstimatorSpec``.

A specification is what a model function returns.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/EstimatorSpec.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.estimator import host_calls

if TYPE_CHECKING:
    from tpudist.core.annotations import SessionRunHook


class ModeKeys:
    """The modes that a model function is called in (r1.15)."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


#: {mode: the fields that its specification must have}
_REQUIRED_FIELDS = {"train": ("loss", "train_op"), "eval": ("loss",), "infer": ("predictions",)}


def _check(mode: str, fields: dict[str, Any], hooks: tuple[SessionRunHook, ...]) -> None:
    """Refuses a specification that no Estimator can run.

    Args:
      mode: one of `ModeKeys`.
      fields: its fields by name.
      hooks: all its hooks.

    Raises:
      ArgumentError: (a ValueError) a field that the mode needs is missing, or the loss is
        not a scalar.
      ArgumentTypeError: (a TypeError) a loss that is not a tensor, or a hook that is not a
        ``SessionRunHook``.
    """
    required = _REQUIRED_FIELDS.get(mode, ())
    for name in required:
        if fields[name] is None:
            raise ArgumentError(
                "a specification for mode %r: Missing %s" % (mode, name),
                "the mode needs %s" % " and ".join(required),
                "EstimatorSpec(mode, %s)" % ", ".join(field + "=..." for field in required),
            )
    loss = fields["loss"]
    if loss is not None and not isinstance(loss, tf.Tensor):
        raise ArgumentTypeError(
            "a specification with loss=%r" % (loss,),
            "the step computes it anew each time, so it is a tensor",
            "loss=tf.reduce_mean(...)",
        )
    if loss is not None and loss.shape.num_elements() not in (1, None):
        raise ArgumentError(
            "a loss of shape %s" % loss.shape, "Loss must be scalar", "tf.reduce_mean(loss)"
        )
    for hook in hooks:
        if not isinstance(hook, tf.compat.v1.train.SessionRunHook):
            raise ArgumentTypeError(
                "the hook %r" % (hook,),
                "All hooks must be SessionRunHook instances",
                "class Hook(tf.train.SessionRunHook)",
            )


class EstimatorSpec(NamedTuple):
    """Says what an Estimator runs; a model function returns it (r1.15).

    Args:
      mode: one of `ModeKeys`.
      predictions: a tensor or dictionary of tensors.
      loss: a scalar tensor.
      train_op: the op of a training step.
      eval_metric_ops: ``{name: (value, update op)}``, or Keras metrics.
      export_outputs: ``{name: ExportOutput}``.
      training_chief_hooks, training_hooks: hooks of a training.
      scaffold: a ``tf.train.Scaffold``.
      evaluation_hooks, prediction_hooks: hooks of these modes.
    """

    mode: Any
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    export_outputs: Any = None
    training_chief_hooks: Any = None
    training_hooks: Any = None
    scaffold: Any = None
    evaluation_hooks: Any = None
    prediction_hooks: Any = None

    def checked(self) -> EstimatorSpec:
        """Returns the specification with tuples of hooks and a scaffold.

        Raises:
          ArgumentError, ArgumentTypeError: no Estimator can run it.
        """
        names = ("training_chief_hooks", "training_hooks", "evaluation_hooks", "prediction_hooks")
        hooks = {name: tuple(getattr(self, name) or ()) for name in names}
        _check(self.mode, self._asdict(), sum(hooks.values(), ()))
        if self.mode == ModeKeys.TRAIN and isinstance(self.train_op, (int, float)):
            raise ArgumentTypeError(
                "a specification with train_op=%r" % (self.train_op,),
                "a training step is an op of the graph",
                "train_op=optimizer.minimize(loss, tf.train.get_global_step())",
            )
        scaffold = self.scaffold or tf.compat.v1.train.Scaffold()
        return self._replace(scaffold=scaffold, eval_metric_ops=self.eval_metric_ops or {}, **hooks)


class _TPUFields(NamedTuple):
    mode: Any
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metrics: Any = None
    export_outputs: Any = None
    scaffold_fn: Any = None
    host_call: Any = None
    training_hooks: Any = None
    evaluation_hooks: Any = None
    prediction_hooks: Any = None


class TPUEstimatorSpec(_TPUFields):
    """Says what a TPUEstimator runs; a model function returns it (r1.15).

    Args:
      mode, predictions, loss, train_op, export_outputs: as for ``EstimatorSpec``.
      eval_metrics: (metric_fn, tensors): a function of the host, which makes metrics of the
        tensors of all replicas.
      scaffold_fn: makes a ``tf.train.Scaffold`` on the host.
      host_call: (function, tensors): a function of the host, which is called with the
        tensors of all replicas at each step.
      training_hooks, evaluation_hooks, prediction_hooks: hooks of the modes.

    Raises:
      ArgumentError, ArgumentTypeError: no TPUEstimator can run it.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TPUEstimatorSpec:
        spec = super().__new__(cls, *args, **kwargs)
        hooks = {
            name: tuple(getattr(spec, name) or ())
            for name in ("training_hooks", "evaluation_hooks", "prediction_hooks")
        }
        _check(spec.mode, spec._asdict(), sum(hooks.values(), ()))
        for name in ("eval_metrics", "host_call"):
            _check_host_call(name, getattr(spec, name))
        return spec._replace(**hooks)

    def as_estimator_spec(self) -> EstimatorSpec:
        """Returns the specification for an Estimator without a TPU (r1.15)."""
        metrics = host_calls.call(*self.eval_metrics) if self.eval_metrics else None
        hooks: tuple[SessionRunHook, ...] = ()
        if self.host_call:
            ops = host_calls.flat_ops(host_calls.call(*self.host_call))
            hooks = (host_calls.EveryStepHook(ops),)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


def _check_host_call(name: str, pair: Any) -> None:
    """Refuses a field of a specification that is not a pair (function, tensors)."""
    if pair is None:
        return
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not callable(pair[0]):
        raise ArgumentError(
            "%s=%r" % (name, pair),
            "it is a pair: the host's function and its tensors, a list or dictionary",
            "%s=(metric_fn, [labels, logits])" % name,
        )
    if not isinstance(pair[1], (tuple, list, dict)):
        raise ArgumentError(
            "%s with the tensors %r" % (name, pair[1]),
            "tensors is a list or a dictionary",
            "%s=(metric_fn, [labels, logits])" % name,
        )
