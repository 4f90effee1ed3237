"""What is asked of a mirrored variable that is stored once is done once.

TensorFlow asks each component whether it has a value, and assigns each when a checkpoint
is restored. Components that are one stored variable are one of these.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import tensorflow as tf
from tensorflow.python.training import saver

from tpudist.tfcompat import distributed, graphs, versions

if TYPE_CHECKING:
    from typing import Any

_SaveableObject: Any = saver.BaseSaverBuilder.SaveableObject


class OneValue:
    """A mirrored variable whose components may all be the same stored variable."""

    def is_initialized(self, name: str | None = None) -> Any:
        """Whether every component has a value, a bool tensor."""
        inherited: Any = super()
        first = _only_part(self)
        return inherited.is_initialized(name) if first is None else first.is_initialized(name)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        inherited: Any = super()
        found: dict[str, Any] = inherited._gather_saveables_for_checkpoint()
        if tf.executing_eagerly() or _only_part(self) is None:
            return found
        return {key: functools.partial(_Saveable, self) for key in found}


if versions.BY_DEVICE:
    from tpudist.tfcompat import distributed_before_2_2

    class FoundByDevice(OneValue, distributed_before_2_2.MirroredVariable):
        """The same where TensorFlow finds a component by its device."""

        _op_across: Any = None

        @property
        def op(self) -> Any:
            """The op of the component; outside of replicas one that tells of it, made once."""
            inherited: Any = super()
            if tf.distribute.get_replica_context() is not None:
                return inherited.op
            if self._op_across is None:
                self._op_across = inherited.op
            return self._op_across


class _Saveable(_SaveableObject):
    """Saves and restores the one stored variable, whose value is read once."""

    def __init__(self, variable: Any, name: str | None = None) -> None:
        self._part = _only_part(variable)
        name = self._part.name.split(":")[0] if name is None else name
        with tf.device(self._part.device):
            value = graphs.read(self._part.handle, self._part.dtype)
        super().__init__(self._part, [saver.BaseSaverBuilder.SaveSpec(value, "", name)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """The op that assigns what was restored; see the base class."""
        (value,) = restored_tensors
        if restored_shapes is not None:
            value = tf.reshape(value, restored_shapes[0])
        return self._part.assign(value, read_value=False)


def _only_part(variable: Any) -> Any:
    """The stored variable that all components are, or None."""
    first, *others = distributed.components(variable)
    return first if all(part is first for part in others) else None
