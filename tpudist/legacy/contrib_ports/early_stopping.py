"""Hooks of ``tf.contrib.estimator`` that stop a training by what evaluations have written.

Reference: TensorFlow 1.13, tensorflow/contrib/estimator/python/estimator/early_stopping.py
"""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any, Callable

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from tpudist.annotations import Fn

_train = tf.compat.v1.train
_SessionRunHook: Any = _train.SessionRunHook


def make_early_stopping_hook(
    estimator: object,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> _Hook:
    """Returns a hook that stops the training once `should_stop_fn` is true (r1.13).

    Args:
      estimator: the Estimator that is trained.
      should_stop_fn: takes nothing; every worker asks it.
      run_every_secs: seconds between two calls, or None.
      run_every_steps: global steps between two calls, or None.

    Raises:
      ArgumentTypeError: (a TypeError) `estimator` is no Estimator, `should_stop_fn` no function.
      ArgumentError: (a ValueError) not exactly one of the distances is given.
    """
    if not hasattr(estimator, "eval_dir"):
        raise ArgumentTypeError(
            "an early stopping hook for %r" % (estimator,),
            "it reads what an Estimator's evaluations write",
            "the tf.estimator.Estimator, or TPUEstimator, that is trained",
        )
    if not callable(should_stop_fn):
        raise ArgumentTypeError(
            "should_stop_fn=%r" % (should_stop_fn,),
            "it is called to ask whether to stop",
            "lambda: True or False",
        )
    if (run_every_secs is None) == (run_every_steps is None):
        raise ArgumentError(
            "run_every_secs=%r and run_every_steps=%r" % (run_every_secs, run_every_steps),
            "one of them says when to ask",
            "run_every_secs=None, run_every_steps=STEPS, or run_every_secs=SECONDS alone",
        )
    return _Hook(should_stop_fn, run_every_secs, run_every_steps)


class _Hook(_SessionRunHook):
    """Asks a function every so often whether to stop."""

    def __init__(self, should_stop: Any, seconds: object, steps: object) -> None:
        self._should_stop = should_stop
        self._timer = _train.SecondOrStepTimer(every_secs=seconds, every_steps=steps)

    def begin(self) -> None:
        """See the base class."""
        self._timer.reset()
        self._step = _train.get_or_create_global_step()

    def before_run(self, run_context: object) -> object:
        """See the base class."""
        return _train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """See the base class."""
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop():
                run_context.request_stop()


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """Returns {global step: {metric: value}} of a folder of evaluations, in the order of steps."""
    found: dict[int, dict[str, float]] = {}
    if not tf.io.gfile.exists(eval_dir):
        return found
    for path in sorted(tf.io.gfile.glob(os.path.join(eval_dir, "events.out.tfevents.*"))):
        for event in _train.summary_iterator(path):
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    found.setdefault(event.step, {})[value.tag] = value.simple_value
    return {step: found[step] for step in sorted(found)}


def _values(folder: str, name: str, min_steps: int) -> list[tuple[int, float]]:
    """The values of a metric, each with its global step, from `min_steps` on."""
    steps = {step: all_ for step, all_ in read_eval_metrics(folder).items() if step >= min_steps}
    for step, metrics in steps.items():
        if name not in metrics:
            raise ArgumentError(
                "the metric %r" % name,
                "the evaluation at step %d in %s has %s" % (step, folder, sorted(metrics)),
                "one of these",
            )
    return [(step, metrics[name]) for step, metrics in steps.items()]


def _at_threshold(is_better: Any) -> Fn:
    def hook(
        estimator: Any,
        metric_name: str,
        threshold: float,
        eval_dir: str | None = None,
        min_steps: int = 0,
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ) -> _Hook:
        def should_stop() -> bool:
            values = _values(eval_dir or estimator.eval_dir(), metric_name, min_steps)
            return any(is_better(value, threshold) for _, value in values)

        return make_early_stopping_hook(estimator, should_stop, run_every_secs, run_every_steps)

    return hook


def _without_progress(
    estimator: Any, name: str, patience: int, is_better: Any, folder: Any, first: int, every: Any
) -> _Hook:
    def should_stop() -> bool:
        best: tuple[int, float] | None = None
        for step, value in _values(folder or estimator.eval_dir(), name, first):
            if best is None or is_better(value, best[1]):
                best = step, value
            if step - best[0] >= patience:
                return True
        return False

    return make_early_stopping_hook(estimator, should_stop, *every)


def stop_if_no_increase_hook(
    estimator: object,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> _Hook:
    """Returns a hook that stops once a metric has not grown for so many steps (r1.13).

    Args:
      estimator: the Estimator that is trained.
      metric_name: of its evaluations.
      max_steps_without_increase: global steps.
      eval_dir: where evaluations are written; None for the Estimator's own.
      min_steps: the first global step that counts.
      run_every_secs, run_every_steps: as for `make_early_stopping_hook`.
    """
    every = run_every_secs, run_every_steps
    return _without_progress(
        estimator, metric_name, max_steps_without_increase, operator.gt, eval_dir, min_steps, every
    )


def stop_if_no_decrease_hook(
    estimator: object,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> _Hook:
    """Returns a hook that stops once a metric has not sunk for so many steps (r1.13).

    Arguments as for `stop_if_no_increase_hook`.
    """
    every = run_every_secs, run_every_steps
    return _without_progress(
        estimator, metric_name, max_steps_without_decrease, operator.lt, eval_dir, min_steps, every
    )


#: The hooks that stop once a metric is above, or below, a threshold (r1.13).
stop_if_higher_hook = _at_threshold(operator.gt)
stop_if_lower_hook = _at_threshold(operator.lt)
