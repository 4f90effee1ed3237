"""``tf.distribute.TPUStrategy``: what TensorFlow 2.3 and later call the class of 2.2.

Reference: https://www.tensorflow.org/versions/r2.3/api_docs/python/tf/distribute/TPUStrategy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpudist import adapter
from tpudist.v2_2 import strategy

if TYPE_CHECKING:
    from tpudist.annotations import Assignment, Resolver


class TPUStrategy(strategy.TPUStrategy):
    """The 2.2 surface under its later name, with the later constructor.

    Programs that ``tpudist migrate --to latest`` has rewritten, which say
    ``tf.distribute.TPUStrategy``, run under ``tpudist run --era 2.2`` with it.

    Reference: tf.distribute.TPUStrategy, r2.3.

    Args:
      tpu_cluster_resolver: a `TPUClusterResolver`; None for the local TPU.
      experimental_device_assignment: optional `DeviceAssignment` that places
        the replicas.

    Raises:
      TPUNameError: (a ValueError) there is no such TPU.
      TopologyError: (a ValueError) the assignment does not fit the slice.
    """

    _nests_taken_apart = "all"

    @adapter.library
    def __init__(
        self,
        tpu_cluster_resolver: Resolver = None,
        experimental_device_assignment: Assignment = None,
    ) -> None:
        adapter.initialize(self, tpu_cluster_resolver, experimental_device_assignment)

    if TYPE_CHECKING:
        # What newer releases have added, it has from the installed TensorFlow's class.
        def __getattr__(self, name: str) -> Any: ...
