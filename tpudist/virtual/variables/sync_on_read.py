"""Sync-on-read variables: one value a core, combined where they are read.

TensorFlow 1.14 lets replica functions set them only. Its TPUs had none: what Keras makes of
them, metrics and moving statistics, was mirrored there, so that Keras sets them in
cross-replica context and outside of the scope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import distributed, versions
from tpudist.virtual.variables.other_strategies import FoundByCore

if TYPE_CHECKING:
    from typing import Any


class SyncOnRead(FoundByCore, distributed.SyncOnReadVariable):
    """A sync-on-read variable as the installed TensorFlow has it."""


class SetAnywhere(SyncOnRead):
    """A sync-on-read variable that cross-replica code may add to, and any code may assign."""

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        """Gives the variable a value; all copies of it outside of a replica function."""
        strategy = self._distribute_strategy
        context = tf.distribute.get_replica_context()
        if context is None or context.strategy is strategy:
            return super().assign(*args, **kwargs)
        with distributed.cross_replica(strategy):
            return super().assign(*args, **kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        """Adds to what is read: in cross-replica context to one copy of a sum, else to all."""
        if tf.distribute.get_replica_context() is not None:
            return super().assign_add(*args, **kwargs)
        parts = distributed.components(self)
        if self.aggregation == tf.VariableAggregation.SUM:
            parts = parts[:1]
        return tf.group(*[part.assign_add(*args, **kwargs) for part in parts])


#: The class that sync-on-read variables are wrapped in.
Variable = SyncOnRead if versions.SYNC_ON_READ_ADDS_ACROSS else SetAnywhere
