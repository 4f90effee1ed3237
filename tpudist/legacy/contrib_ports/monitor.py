"""``tf.contrib.distribute.Monitor``: runs the steps of a training.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/distribute/Monitor.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from typing import Any, Callable


class Monitor:
    """Runs a step of `tf.contrib.distribute` again and again.

    Args:
      step_callable: a ``tf.contrib.distribute.Step``. In graph mode a call of it makes the ops
        of a step, once; in eager mode a call is a step.
      session: the Session that runs them in graph mode; None in eager mode. It initializes the
        step, and all global variables.

    Raises:
      ValueError: a session in eager mode, or none in graph mode.

    Context: cross-replica. Reference: tf.contrib.distribute.Monitor (r1.15).
    """

    def __init__(self, step_callable: Callable[[], Any], session: Any = None) -> None:
        if tf.executing_eagerly() != (session is None):
            raise ValueError(
                "Should not provide a `session` in Eager mode."
                if session is not None
                else "Should provide a `session` in Graph mode."
            )
        self._run_step = step_callable
        if session is not None:
            started: Any = step_callable
            session.run(started.initialize())
            self._run_step = session.make_callable(step_callable())
            session.run(tf.compat.v1.global_variables_initializer())

    def run_steps(self, num_steps: int | None = None) -> None:
        """Runs so many steps, or all until the data set ends.

        Args:
          num_steps: how many at most; None is until the end.

        Context: cross-replica. Reference: tf.contrib.distribute.Monitor (r1.15).
        """
        done = 0
        while num_steps is None or done < num_steps:
            try:
                self._run_step()
            except tf.errors.OutOfRangeError:
                break
            done += 1
