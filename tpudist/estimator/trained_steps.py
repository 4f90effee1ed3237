"""Reads how many steps a model has been trained for from its newest checkpoint."""

from __future__ import annotations

import tensorflow as tf


def trained_steps(folder: str) -> int:
    """Returns the global step of the newest checkpoint in a folder, 0 if there is none."""
    path = tf.train.latest_checkpoint(folder)
    return int(tf.train.load_variable(path, "global_step")) if path else 0
