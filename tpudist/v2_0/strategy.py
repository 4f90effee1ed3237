"""``tf.distribute.experimental.TPUStrategy`` of TensorFlow 2.0.

Reference: https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/distribute/experimental/TPUStrategy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpudist import adapter
from tpudist.common.strategy import SecondGeneration

if TYPE_CHECKING:
    from tpudist.annotations import Args, Fn, Kwargs


class TPUStrategy(SecondGeneration, adapter.TPUStrategyBase):
    """TPU distribution strategy with the API of TensorFlow 2.0.

    Reference: tf.distribute.experimental.TPUStrategy, r2.0.

    Args:
      tpu_cluster_resolver: a `TPUClusterResolver`; None for the local TPU.
      device_assignment: optional `DeviceAssignment` that places the replicas.

    Raises:
      TPUNameError: (a ValueError) there is no such TPU.
      TopologyError: (a ValueError) the assignment does not fit the slice.
    """

    @adapter.library
    def experimental_run_v2(self, fn: Fn, args: Args = (), kwargs: Kwargs = None) -> Any:
        """Runs `fn` once per replica (r2.0).

        Context: cross-replica; eager (where `fn` is wrapped in a
        tf.function, as in 2.0), graph or tf.function.

        Args:
          fn: the replica function; its output is a nest of tensors.
          args: positional arguments; a per-replica value becomes the
            replica's component.
          kwargs: keyword arguments, likewise.

        Returns:
          What `fn` returned, a per-replica value for each tensor.

        Raises:
          ContextError: (a RuntimeError) called inside a replica function.
        """
        return adapter.run(self, fn, args, kwargs)
