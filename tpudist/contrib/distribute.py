"""``tf.contrib.distribute``: the strategies and the context functions.

Reference: https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/distribute.md
`MirroredStrategy` and `OneDeviceStrategy` are the installed TensorFlow's own
(`tf.compat.v1.distribute`), loaded when first asked for.
"""

from __future__ import annotations

from typing import Any

from tpudist.common.strategy import V1Constructor
from tpudist.contrib.context import (
    MultiStepContext,
    TowerContext,
    VariableAggregation,
    get_cross_tower_context,
    get_distribution_strategy,
    get_loss_reduction,
    get_tower_context,
    has_distribution_strategy,
)
from tpudist.contrib.strategy import TPUStrategy
from tpudist.system.cluster import initialize_tpu_system

__all__ = [  # noqa: F822 (the native classes, see __getattr__)
    "MirroredStrategy",
    "MultiStepContext",
    "OneDeviceStrategy",
    "TPUStrategy",
    "TPUStrategyV1",
    "TowerContext",
    "VariableAggregation",
    "get_cross_tower_context",
    "get_distribution_strategy",
    "get_loss_reduction",
    "get_tower_context",
    "has_distribution_strategy",
    "initialize_tpu_system",
]

_NATIVE = ("MirroredStrategy", "OneDeviceStrategy")


class TPUStrategyV1(V1Constructor, TPUStrategy):
    """The strategy with the constructor of TensorFlow 1.14 and 1.15.

    Reference: tf.contrib.distribute.TPUStrategy, r1.15. As of 1.14, optimizers
    of ``tf.train`` leave a mean loss as it is unless Estimator runs them.

    Args:
      tpu_cluster_resolver: a `TPUClusterResolver`; None for the local TPU.
      steps_per_run: as of `TPUStrategy`.
      device_assignment: optional `DeviceAssignment` that places the replicas.
    """

    _scales_mean_loss = False


def __getattr__(name: str) -> Any:
    if name in _NATIVE:
        import tensorflow as tf

        return getattr(tf.compat.v1.distribute, name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
