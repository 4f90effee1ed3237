"""Values and contexts that core hands to users."""

from __future__ import annotations


class ValueContext:
    """Tells a value function which replica it makes a value for.

    Args:
      replica_id_in_sync_group: 0 to `num_replicas_in_sync` - 1.
      num_replicas_in_sync: number of replicas.
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        """Number of replicas, an integer."""
        return self._num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """The replica's id, an integer."""
        return self._replica_id_in_sync_group
