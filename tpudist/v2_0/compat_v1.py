"""``tf.compat.v1.distribute.experimental.TPUStrategy``: the constructor of 1.14 and 1.15.

Reference: https://www.tensorflow.org/api_docs/python/tf/compat/v1/distribute/experimental/TPUStrategy
"""

from __future__ import annotations

from tpudist.common.strategy import V1Constructor
from tpudist.v2_0 import strategy


class TPUStrategy(V1Constructor, strategy.TPUStrategy):
    """The 2.0 surface with the constructor that ``tf.compat.v1`` has kept.

    Programs of TensorFlow 1 that ``tpudist migrate`` has rewritten say it.

    Reference: tf.compat.v1.distribute.experimental.TPUStrategy, r2.0.

    Args:
      tpu_cluster_resolver: a `TPUClusterResolver`; None for the local TPU.
      steps_per_run: how many steps loops of Keras and Estimator run at once; 1 if None.
      device_assignment: optional `DeviceAssignment` that places the replicas.

    Raises:
      TPUNameError: (a ValueError) there is no such TPU.
      TopologyError: (a ValueError) the assignment does not fit the slice.
    """
