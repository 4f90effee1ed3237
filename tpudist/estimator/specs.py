"""``ModeKeys`` and ``EstimatorSpec`` for the releases that have none (2.16 and newer).

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/EstimatorSpec.md
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from typing import Any


class ModeKeys:
    """Names of what a model function is called for (r1.15)."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


#: {mode: the fields that a specification of it must have}
_REQUIRED = {"train": ("loss", "train_op"), "eval": ("loss",), "infer": ("predictions",)}


def check(mode: str, fields: dict[str, Any], hooks: tuple[Any, ...]) -> None:
    """Refuses a specification that no Estimator can run.

    Args:
      mode: one of `ModeKeys`.
      fields: its loss, train_op and predictions.
      hooks: all its hooks.

    Raises:
      ArgumentError: (a ValueError) a field that the mode needs is missing, or the loss is
        no scalar.
      ArgumentTypeError: (a TypeError) a loss that is no tensor, a hook that is none.
    """
    for name in _REQUIRED.get(mode, ()):
        if fields[name] is None:
            raise ArgumentError(
                "a specification for mode %r: Missing %s" % (mode, name),
                "the mode needs %s" % " and ".join(_REQUIRED[mode]),
                "EstimatorSpec(mode, %s)" % ", ".join("%s=..." % each for each in _REQUIRED[mode]),
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


class EstimatorSpec(typing.NamedTuple):
    """What a model function tells the Estimator to run (r1.15).

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
        """The specification with lists of hooks and a scaffold, if it is a possible one.

        Raises:
          ArgumentError, ArgumentTypeError: see :func:`check`.
        """
        hooks = ("training_chief_hooks", "training_hooks", "evaluation_hooks", "prediction_hooks")
        lists = {name: tuple(getattr(self, name) or ()) for name in hooks}
        check(self.mode, self._asdict(), sum(lists.values(), ()))
        if self.mode == ModeKeys.TRAIN and isinstance(self.train_op, (int, float)):
            raise ArgumentTypeError(
                "a specification with train_op=%r" % (self.train_op,),
                "a training step is an op of the graph",
                "train_op=optimizer.minimize(loss, tf.train.get_global_step())",
            )
        scaffold = self.scaffold or tf.compat.v1.train.Scaffold()
        return self._replace(scaffold=scaffold, eval_metric_ops=self.eval_metric_ops or {}, **lists)
