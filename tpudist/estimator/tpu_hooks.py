"""Session hooks of a TPUEstimator: how many steps a loop takes, speed, outfeed, datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.estimator import readiness
from tpudist.tfcompat import estimators

if TYPE_CHECKING:
    from typing import Any

_hooks = tf.compat.v1.train
_SessionRunHook: Any = _hooks.SessionRunHook


class DatasetInitializerHook(_SessionRunHook):
    """Starts the iterators of the input when a Session has been made.

    Args:
      initializers: their ops.
    """

    def __init__(self, initializers: list[Any]) -> None:
        self._initializers = initializers

    def after_create_session(self, session: Any, coord: Any) -> None:
        """See the base class."""
        session.run(self._initializers)


class LoopHook(_SessionRunHook):
    """Runs loops of steps up to the last step that is asked for.

    Args:
      per_loop: steps of one loop.
      steps: how many more steps, or None.
      max_steps: the last step, or None.
    """

    def __init__(self, per_loop: int, steps: int | None, max_steps: int | None) -> None:
        self._per_loop = per_loop
        self._steps = steps
        self._last = max_steps

    def begin(self) -> None:
        """See the base class."""
        self._global_step = estimators.global_step_read()
        self._iterations = iterations()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """See the base class."""
        self._step = session.run(self._global_step)
        if self._last is None and self._steps is not None:
            self._last = self._step + self._steps

    def before_run(self, run_context: Any) -> Any:
        """See the base class."""
        left = self._per_loop if self._last is None else self._last - self._step
        taken = max(1, min(self._per_loop, left))
        return _hooks.SessionRunArgs(None, feed_dict={self._iterations: taken})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """See the base class."""
        self._step = run_context.session.run(self._global_step)
        if self._last is not None and self._step >= self._last:
            run_context.request_stop()


def iterations() -> Any:
    """The number of steps of a loop, which a `LoopHook` feeds, in the current graph."""
    graph = tf.compat.v1.get_default_graph()
    found = graph.get_collection_ref("tpu_estimator/iterations_per_loop")
    if not found:
        one = tf.constant(1, tf.int32)
        found.append(tf.compat.v1.placeholder_with_default(one, [], "iterations_per_loop"))
    return found[0]


class FetchAllHook(_SessionRunHook):
    """Has every run of the Session fetch the same: it compiles a graph for each set of fetches.

    Args:
      tensors: what other hooks fetch in some runs.
      scaffold: its summaries are fetched too, if it has any; None for no summaries.
    """

    def __init__(self, tensors: list[Any], scaffold: Any) -> None:
        self._tensors = tensors
        self._scaffold = scaffold

    def begin(self) -> None:
        """See the base class."""
        readiness.add_ops()

    def before_run(self, run_context: Any) -> Any:
        """See the base class."""
        summaries = None if self._scaffold is None else self._scaffold.summary_op
        return _hooks.SessionRunArgs([self._tensors, [] if summaries is None else summaries])


class SummaryWritersHook(_SessionRunHook):
    """Makes the summary writers of ``tf.contrib.summary`` that the host's functions have."""

    def begin(self) -> None:
        """See the base class."""
        self._made, self._flushed = estimators.summary_writers()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """See the base class."""
        session.run(self._made)

    def end(self, session: Any) -> None:
        """See the base class."""
        session.run(self._flushed)


class EveryStepHook(SummaryWritersHook):
    """Runs the ops of the host's functions with every step, where there is no TPU.

    Args:
      ops: the ops.
    """

    def __init__(self, ops: list[Any]) -> None:
        self._ops = ops

    def before_run(self, run_context: Any) -> Any:
        """See the base class."""
        return _hooks.SessionRunArgs(self._ops)


class OutfeedHook(SummaryWritersHook):
    """Runs the host's ops of the steps that a loop has taken.

    Args:
      waiting: number of steps whose tensors wait, a tensor.
      ops: the op to run for each.
      left_out: the op to run for a step that does not call the host.
      every: after how many steps the host is called again.
    """

    def __init__(self, waiting: Any, ops: Any, left_out: Any, every: int) -> None:
        self._waiting = waiting
        self._ops = ops
        self._left_out = left_out
        self._every = every

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """See the base class."""
        session = run_context.session
        for step in range(session.run(self._waiting)):
            session.run(self._left_out if step % self._every else self._ops)


class ExamplesPerSecondHook(estimators.StepCounterHook):
    """Logs ``examples/sec`` beside ``global_step/sec``, and writes both as summaries.

    Args:
      batch_size: examples of a step.
      **options: as for ``StepCounterHook``.
    """

    def __init__(self, batch_size: int, **options: Any) -> None:
        self._batch_size = batch_size
        super().__init__(**options)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        steps = elapsed_steps / elapsed_time
        rates = {"global_step/sec": steps, "examples/sec": steps * self._batch_size}
        for tag, rate in rates.items():
            if self._summary_writer is not None:
                value = tf.compat.v1.Summary.Value(tag=tag, simple_value=rate)
                self._summary_writer.add_summary(tf.compat.v1.Summary(value=[value]), global_step)
            tf.compat.v1.logging.info("%s: %g", tag, rate)


class EndOfInputHook(_SessionRunHook):
    """Ends a prediction when a step has met only padding.

    Args:
      rows: number of examples of the step that are no padding, a tensor.
    """

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def before_run(self, run_context: Any) -> Any:
        """See the base class."""
        return _hooks.SessionRunArgs(self._rows)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """See the base class."""
        if not run_values.results:
            run_context.request_stop()
