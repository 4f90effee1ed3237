"""Checkpoints: ``AsyncCheckpointSaverHook`` (until 2.15), and how many steps one was trained for.

Reference: https://github.com/tensorflow/tensorflow/blob/r1.15/tensorflow/python/tpu/async_checkpoint.py
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_CheckpointSaverHook: Any = tf.compat.v1.train.CheckpointSaverHook


class AsyncCheckpointSaverHook(_CheckpointSaverHook):
    """Saves a checkpoint every N steps or seconds (r1.15).

    TensorFlow's hook writes in a thread while the TPU runs further steps on variables of
    its own. On the virtual TPU these steps would change the variables that are being
    written, so the next loop of steps starts after the checkpoint is written.

    Args:
      checkpoint_dir: folder of the checkpoints.
      save_secs: seconds between checkpoints, or None.
      save_steps: steps between checkpoints, or None; exactly one of the two is set.
      saver: a ``tf.train.Saver``; None for the scaffold's, or the graph's.
      checkpoint_basename: name of the files.
      scaffold: a ``tf.train.Scaffold``, or None.
      listeners: ``CheckpointSaverListener`` objects, called before and after each save.

    Raises:
      ValueError: neither or both of `save_secs` and `save_steps`.
    """


def trained_steps(folder: str) -> int:
    """Returns the global step of the newest checkpoint in a folder, 0 if there is none."""
    path = tf.train.latest_checkpoint(folder)
    return int(tf.train.load_variable(path, "global_step")) if path else 0
