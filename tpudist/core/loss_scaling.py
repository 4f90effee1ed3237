"""Who divides a mean loss by the number of replicas.

Optimizers of ``tf.train`` add the replicas' gradients. Up to TensorFlow 1.13
they first divided a mean loss by the number of replicas; from 1.14 on they do so
only if the strategy asks for it, which Estimator switches on while it runs.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import versions
from tpudist.virtual import keras_loops

if TYPE_CHECKING:
    from typing import Any, Iterator

    from tpudist.core.annotations import Strategy


#: What Keras' own loops note as the last reduction; these loops divide the loss.
_BY_KERAS = "sum_over_batch_size"


class ScalesMeanLoss:
    """A strategy under which ``tf.train`` optimizers divide a mean loss."""

    _scales_mean_loss = True
    _estimator_scales = False

    @property
    def _scale_loss_for_estimator(self) -> bool:
        """Whether to divide; the optimizer reads it."""
        if self._estimator_scales:
            return True
        graph = tf.compat.v1.get_default_graph()
        by_keras = keras_loops.is_tracing() or (
            getattr(graph, "_last_loss_reduction", None) == _BY_KERAS
        )
        return self._scales_mean_loss and not by_keras

    @_scale_loss_for_estimator.setter
    def _scale_loss_for_estimator(self, asked: Any) -> None:
        self._estimator_scales = asked


@contextlib.contextmanager
def of_estimator(strategy: Strategy) -> Iterator[Any]:
    """Context manager: optimizers divide a mean loss, as wherever Estimator runs them."""
    if not versions.ESTIMATOR_ASKS_FOR_SCALING:
        yield
        return
    with strategy._scale_loss_for_estimator_enabled():
        yield
