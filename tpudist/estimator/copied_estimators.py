"""Private functions of TensorFlow that a copy of its TPUEstimator calls.

Many programs of 2018 and 2019 have such a copy in a file of their own (XLNet, Transformer-XL). It
drives a virtual TPU by the operations of :mod:`tpudist.contrib.tpu`, as it drove a real one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.computations import tpu_ops
from tpudist.tfcompat import estimators, tpu

if TYPE_CHECKING:
    from tpudist.annotations import Fn


def get_tpu_context(
    config: Any, *batch_sizes_and_uses: Any, embedding_config_spec: object = None
) -> Any:
    """Makes the context of a TPUEstimator; copies of 1.13 and before name no embedding.

    Args:
      config: a `TPURunConfig` or `RunConfig`.
      *batch_sizes_and_uses: batch sizes of training, evaluation and prediction; whether a TPU is
        used; whether it evaluates; and, of newer copies, the specification of embeddings.
      embedding_config_spec: the last of these by its name.

    Returns:
      TensorFlow's `_InternalTPUContext`.
    """
    given = list(batch_sizes_and_uses)
    if len(given) < 6:
        given.append(embedding_config_spec)
    return estimators.tpu_context(config, given)


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Has a summary writer write what it holds; TensorFlow 2 takes no resource tensor for one."""
    return estimators.flush(writer, name)


def _nothing(*unused_args: Any) -> None:
    """Does nothing, as the callback of a hook."""


def _of_workers(name: str, instead: object = _nothing) -> Fn:
    """Returns what watches or restarts a real TPU's workers; a virtual one has none to lose."""

    def made(*args: Any, **kwargs: Any) -> Any:
        if tpu_ops.here() is not tpu.Computations:
            return instead
        return getattr(estimators.session_support(), name)(*args, **kwargs)

    return made


GracefulShutdownHook = _of_workers("GracefulShutdownHook", tf.compat.v1.train.SessionRunHook())
ShutdownLameWorkers = _of_workers("ShutdownLameWorkers")
ShutdownAllWorkers = _of_workers("ShutdownAllWorkers")
RestartComputation = _of_workers("RestartComputation")
ResetComputation = _of_workers("ResetComputation")
start_worker_watchdog = _of_workers("start_worker_watchdog", None)
