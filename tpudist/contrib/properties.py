"""The properties of ``tf.contrib.distribute.TPUStrategy``.

Reference: https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/distribute/TPUStrategy.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.core import adapter

if TYPE_CHECKING:
    from typing import Any


@adapter.part_of("TPUStrategy")
class Properties:
    """Properties of the strategy (r1.11)."""

    @property
    def num_towers(self) -> int:
        """Number of towers, for purposes of averaging across towers (r1.11)."""
        return adapter.num_replicas(self)

    @property
    def is_single_tower(self) -> bool:
        """Whether there is a single tower (r1.11)."""
        return adapter.is_single(self)

    @property
    def num_hosts(self) -> int:
        """Number of hosts of the slice (r1.11)."""
        return adapter.num_hosts(self)

    @property
    def num_towers_per_host(self) -> int:
        """Number of towers that one host feeds (r1.11)."""
        return adapter.replicas_per_host(self)

    @property
    def worker_devices(self) -> list[str]:
        """List of the devices that run `call_for_each_tower` (r1.11)."""
        return adapter.worker_devices(self)

    @property
    def parameter_devices(self) -> list[str]:
        """List of the devices for variables and `update` (r1.11)."""
        return adapter.parameter_devices(self)

    @property
    def worker_device_index(self) -> Any:
        """Each tower's number, as an argument of `call_for_each_tower` (r1.11).

        Context: cross-tower, in the scope. A tower function gets an integer
        in a graph and in eager mode, and an int32 scalar tensor where one
        trace serves all towers (`run_steps_on_dataset`, tf.function).

        Returns:
          A per-device value; the integer 0 if there is a single tower.
        """
        return adapter.replica_ids(self)

    @property
    def between_graph(self) -> bool:
        """Whether the strategy uses between-graph replication (r1.11)."""
        return adapter.between_graph(self)

    @property
    def should_init(self) -> bool:
        """Whether initialization is needed (r1.11)."""
        return adapter.should_init(self)

    @property
    def should_checkpoint(self) -> bool:
        """Whether checkpointing is needed (r1.11)."""
        return adapter.should_checkpoint(self)

    @property
    def should_save_summary(self) -> bool:
        """Whether saving summaries is needed (r1.11)."""
        return adapter.should_save_summary(self)
