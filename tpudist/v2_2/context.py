"""The contexts that the 2.2 surface passes to functions of users.

Reference: https://www.tensorflow.org/versions/r2.2/api_docs/python/tf/distribute/experimental/ValueContext
"""

from __future__ import annotations

from tpudist.strategy import replica_values


class ValueContext(replica_values.ValueContext):
    """The context of a call of `value_fn`: the replica that it makes a value for.

    Reference: tf.distribute.experimental.ValueContext, r2.2. The page's
    examples read both `replica_id_in_sync_group` and `replica_id`.
    """

    @property
    def replica_id(self) -> int:
        """The same as `replica_id_in_sync_group` (r2.2)."""
        return self.replica_id_in_sync_group
