"""``AsyncCheckpointSaverHook``, which TensorFlow had until 2.15.

Reference: https://github.com/tensorflow/tensorflow/blob/r1.15/tensorflow/python/tpu/async_checkpoint.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from typing import Any, Sequence

_CheckpointSaverHook: Any = tf.compat.v1.train.CheckpointSaverHook


class AsyncCheckpointSaverHook(_CheckpointSaverHook):
    """Saves checkpoints every N steps or seconds (r1.15).

    TensorFlow's wrote them in a thread, beside the steps, which a TPU keeps off its
    variables meanwhile. On one device the steps would change what is being written, so
    here a checkpoint is written before the next loop of steps.

    Args:
      checkpoint_dir: folder of the checkpoints.
      save_secs: seconds between checkpoints, or None.
      save_steps: steps between checkpoints, or None; one of the two is given.
      saver: a ``tf.train.Saver``; None for the scaffold's, or the graph's.
      checkpoint_basename: name of the files.
      scaffold: a ``tf.train.Scaffold``, or None.
      listeners: ``CheckpointSaverListener`` objects, told before and after each save.

    Raises:
      ValueError: neither or both of `save_secs` and `save_steps`.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Sequence[Any] | None = None,
    ) -> None:
        """See the class; reference r1.15."""
        super().__init__(
            checkpoint_dir,
            save_secs=save_secs,
            save_steps=save_steps,
            saver=saver,
            checkpoint_basename=checkpoint_basename,
            scaffold=scaffold,
            listeners=listeners,
        )
