"""The programs, a module for each surface; what each gives is the same on any number of cores.

A program takes a `World` and returns {name: value}. What a step sees is one global batch,
shared out, so that sums and means over all cores do not depend on how many there are.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple

import numpy as np

#: What ``tf.function`` is: TensorFlow itself has no types.
Compiled = Callable[[Callable[..., Any]], Callable[..., Any]]

#: Rows of a global batch: the replicas' number has to divide it.
ROWS = 256
STEPS, RATE = 5, 0.05


class World(NamedTuple):
    """The TPU, strategy and Session that a program runs with."""

    resolver: Any  # of the TPU
    strategy: Any  # over all of its cores
    topology: Any  # of the TPU; None where only a Session knows it
    session: Any  # in which a graph's program runs, or None


class NotTried(Exception):
    """A program needs something that this TPU or TensorFlow does not have."""


Program = Callable[[World], Dict[str, Any]]


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Features [ROWS, 16] and labels [ROWS, 1], float32."""
    index = np.arange(ROWS * 16, dtype=np.float64).reshape(ROWS, 16)
    features = np.sin(index * 0.7)
    return features.astype(np.float32), np.cos(features.sum(1, keepdims=True)).astype(np.float32)


def rows_of_each_host() -> tuple[np.ndarray, np.ndarray]:
    """Repeats the first few of :func:`rows`, with which the pipeline of each host begins."""
    features, labels = rows()
    return np.tile(features[:8], (ROWS // 8, 1)), np.tile(labels[:8], (ROWS // 8, 1))


def weights() -> tuple[np.ndarray, np.ndarray]:
    """The weights of a net 16 -> 8 -> 1, float32."""
    index = np.arange(16 * 8, dtype=np.float64)
    hidden = np.cos(index).reshape(16, 8) / 4
    return hidden.astype(np.float32), np.sin(np.arange(8.0)).reshape(8, 1).astype(np.float32)
