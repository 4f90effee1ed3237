"""Stands in for ``tf.estimator.train_and_evaluate``: does both in turn, in one process.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/train_and_evaluate.md
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tpudist.errors import ArgumentTypeError
from tpudist.estimator.stand_ins import sessions

if TYPE_CHECKING:
    from tpudist.core.annotations import EstimatorLike, Session

_Listener: Any = tf.compat.v1.train.CheckpointSaverListener


class _TrainFields(NamedTuple):
    input_fn: Any
    max_steps: Any = None
    hooks: Any = None
    saving_listeners: Any = None


class TrainSpec(_TrainFields):
    """Describes the training of a `train_and_evaluate` (r1.15).

    Args:
      input_fn: returns the training's input.
      max_steps: global step of the last step; None until the input ends.
      hooks: a list of ``tf.train.SessionRunHook``.
      saving_listeners: a list of ``tf.train.CheckpointSaverListener``.

    Raises:
      ArgumentError: (a ValueError) a `max_steps` below 1.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TrainSpec:
        spec = super().__new__(cls, *args, **kwargs)
        sessions.check_steps(max_steps=spec.max_steps)
        return spec


class _EvalFields(NamedTuple):
    input_fn: Any
    steps: Any = 100
    name: Any = None
    hooks: Any = None
    exporters: Any = None
    start_delay_secs: Any = 120
    throttle_secs: Any = 600


class EvalSpec(_EvalFields):
    """Describes the evaluation of a `train_and_evaluate` (r1.15).

    Args:
      input_fn: returns the evaluation's input.
      steps: number of batches; None until the input ends.
      name: the name of the evaluation, in its folder's name.
      hooks: a list of ``tf.train.SessionRunHook``.
      exporters: an ``Exporter``, or a list of them.
      start_delay_secs: ignored; it is for an evaluator in a process of its own.
      throttle_secs: least number of seconds between two evaluations.

    Raises:
      ArgumentError: (a ValueError) `steps` below 1.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> EvalSpec:
        spec = super().__new__(cls, *args, **kwargs)
        sessions.check_steps(steps=spec.steps)
        exporters = spec.exporters or ()
        if hasattr(exporters, "export"):
            exporters = [exporters]
        return spec._replace(exporters=list(exporters))


def train_and_evaluate(
    estimator: EstimatorLike, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[Any, list[Any]]:
    """Trains a model, and evaluates and exports checkpoints on the way (r1.15).

    Args:
      estimator: the Estimator, whose config says when checkpoints are saved.
      train_spec: a `TrainSpec`.
      eval_spec: an `EvalSpec`.

    Returns:
      The last evaluation's results, and what the exporters returned for them.

    Raises:
      ArgumentTypeError: (a TypeError) a specification of another type.
    """
    for spec, kind in ((train_spec, TrainSpec), (eval_spec, EvalSpec)):
        if not isinstance(spec, kind):
            raise ArgumentTypeError(
                "%r" % (spec,), "it is no %s" % kind.__name__, "%s(input_fn)" % kind.__name__
            )
    evaluator = _EvaluatingListener(estimator, eval_spec, train_spec.max_steps)
    estimator.train(
        train_spec.input_fn,
        hooks=list(train_spec.hooks or ()),
        max_steps=train_spec.max_steps,
        saving_listeners=[*(train_spec.saving_listeners or ()), evaluator],
    )
    return evaluator.results, evaluator.exports


class _EvaluatingListener(_Listener):
    """Evaluates and exports the checkpoints of a training after they are saved."""

    def __init__(self, estimator: EstimatorLike, spec: EvalSpec, max_steps: int | None) -> None:
        self._estimator = estimator
        self._spec = spec
        self._max_steps = max_steps
        self._last_step: int | None = None
        self._last_time = time.time()
        self.results: Any = None
        self.exports: list[Any] = []

    def after_save(self, session: Session, global_step_value: int) -> None:
        """See the base class; `end` evaluates the last checkpoint."""
        seconds = time.time() - self._last_time
        is_last = self._max_steps is not None and global_step_value >= self._max_steps
        if seconds >= self._spec.throttle_secs and global_step_value and not is_last:
            self._evaluate(global_step_value, False)

    def end(self, session: Session, global_step_value: int) -> None:
        """See the base class."""
        if global_step_value != self._last_step:
            self._evaluate(global_step_value, True)

    def _evaluate(self, step: int, is_last: bool) -> None:
        estimator, spec = self._estimator, self._spec
        self.results = estimator.evaluate(
            spec.input_fn, steps=spec.steps, hooks=spec.hooks, name=spec.name
        )
        self._last_step, self._last_time = step, time.time()
        self.exports = [
            exporter.export(
                estimator,
                os.path.join(estimator.model_dir, "export", exporter.name),
                estimator.latest_checkpoint(),
                self.results,
                is_last,
            )
            for exporter in spec.exporters
        ]
