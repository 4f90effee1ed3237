"""``train_and_evaluate`` for the releases that have none (2.16 and newer), in one process.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/train_and_evaluate.md
"""

from __future__ import annotations

import os
import time
import typing
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from typing import Any

_Listener: Any = tf.compat.v1.train.CheckpointSaverListener


class _Training(typing.NamedTuple):
    input_fn: Any
    max_steps: Any = None
    hooks: Any = None
    saving_listeners: Any = None


class TrainSpec(_Training):
    """The training of a `train_and_evaluate` (r1.15).

    Args:
      input_fn: gives the training's input.
      max_steps: the last step; None until the input ends.
      hooks: a list of ``tf.train.SessionRunHook``.
      saving_listeners: a list of ``tf.train.CheckpointSaverListener``.

    Raises:
      ArgumentError: (a ValueError) a `max_steps` below 1.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TrainSpec:
        """See the class; reference r1.15."""
        made = super().__new__(cls, *args, **kwargs)
        _require_positive(max_steps=made.max_steps)
        return made


class _Evaluation(typing.NamedTuple):
    input_fn: Any
    steps: Any = 100
    name: Any = None
    hooks: Any = None
    exporters: Any = None
    start_delay_secs: Any = 120
    throttle_secs: Any = 600


class EvalSpec(_Evaluation):
    """The evaluation of a `train_and_evaluate` (r1.15).

    Args:
      input_fn: gives the evaluation's input.
      steps: number of batches; None until the input ends.
      name: of the evaluation.
      hooks: a list of ``tf.train.SessionRunHook``.
      exporters: an ``Exporter``, or a list of them.
      start_delay_secs: of an evaluator in a process of its own; not used here.
      throttle_secs: seconds between two evaluations at least.

    Raises:
      ArgumentError: (a ValueError) `steps` below 1.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> EvalSpec:
        """See the class; reference r1.15."""
        made = super().__new__(cls, *args, **kwargs)
        _require_positive(steps=made.steps)
        given = made.exporters or ()
        return made._replace(exporters=[given] if hasattr(given, "export") else list(given))


def _require_positive(**given: Any) -> None:
    for name, value in given.items():
        if value is not None and value <= 0:
            raise ArgumentError(
                "%s=%r" % (name, value), "Must specify %s > 0" % name, "%s=1000" % name
            )


def train_and_evaluate(
    estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[Any, list[Any]]:
    """Trains, and evaluates and exports what is saved on the way (r1.15).

    Args:
      estimator: the Estimator; when it saves says its config.
      train_spec: a `TrainSpec`.
      eval_spec: an `EvalSpec`.

    Returns:
      The last evaluation's results, and what the exporters returned then.

    Raises:
      ArgumentTypeError: (a TypeError) a specification of another kind.
    """
    for given, kind in ((train_spec, TrainSpec), (eval_spec, EvalSpec)):
        if not isinstance(given, kind):
            raise ArgumentTypeError(
                "%r" % (given,), "it is no %s" % kind.__name__, "%s(input_fn)" % kind.__name__
            )
    evaluating = _Evaluating(estimator, eval_spec, train_spec.max_steps)
    estimator.train(
        train_spec.input_fn,
        hooks=list(train_spec.hooks or ()),
        max_steps=train_spec.max_steps,
        saving_listeners=list(train_spec.saving_listeners or ()) + [evaluating],
    )
    return evaluating.results, evaluating.exports


class _Evaluating(_Listener):
    """Evaluates the checkpoints of a training."""

    def __init__(self, estimator: Any, spec: EvalSpec, max_steps: int | None) -> None:
        self._estimator = estimator
        self._spec = spec
        self._max_steps = max_steps
        self._last_step: int | None = None
        self._last_time = time.time()
        self.results: Any = None
        self.exports: list[Any] = []

    def after_save(self, session: Any, global_step_value: int) -> None:
        """See the base class; the last checkpoint is for `end`."""
        waited = time.time() - self._last_time
        ends = self._max_steps is not None and global_step_value >= self._max_steps
        if waited >= self._spec.throttle_secs and global_step_value and not ends:
            self._evaluate(global_step_value, False)

    def end(self, session: Any, global_step_value: int) -> None:
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
            each.export(
                estimator,
                os.path.join(estimator.model_dir, "export", each.name),
                estimator.latest_checkpoint(),
                self.results,
                is_last,
            )
            for each in spec.exporters
        ]
