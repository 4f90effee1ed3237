"""Variables that are stored once: which are, which graphs rely on it, and how they are saved.

TensorFlow checks each copy for a value, and assigns each when a checkpoint is restored.
Copies that are one stored variable are checked and assigned once.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.training import saver

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, functions, graphs, versions
from tpudist.virtual.variables import other_strategies

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor, Variable

_SaveableObject: Any = saver.BaseSaverBuilder.SaveableObject


def is_stored_once(variable: Variable | Splittable) -> bool:
    """Whether all replicas of `variable` read one stored value."""
    copies = distributed.components(variable)
    return len(copies) > 1 and copies[0] is copies[1]


def may_split(value: object) -> bool:
    """Whether `value` is a mirrored variable that is stored once for several replicas."""
    return isinstance(value, Splittable) and is_stored_once(value)


def assume_equal(variable: Variable, for_good: bool = False) -> None:
    """Records that a graph relies on `variable` being stored once, if it is.

    `for_good` rules out a split even by replicas that are being traced one by one, whose ops could
    still be given handles of their own.
    """
    if not may_split(variable) or functions.is_in_a_graph_of_keras():
        return
    replicas = None if for_good else variable._own_strategy.extended.replicas
    before = variable._assumed_equal
    variable._assumed_equal = replicas if replicas and before in (False, replicas) else True


def of_handle(handle: Tensor | None) -> Any:
    """The distributed variable whose first copy has `handle`, or None."""
    return getattr(handle, "_tpudist_variable", lambda: None)()


def register(variable: Variable) -> None:
    """Registers `variable` under its first handle, for :func:`of_handle`."""
    handle = distributed.components(variable)[0].handle
    handle._tpudist_variable = weakref.ref(variable)
    if graphs.is_eager(handle):
        handle._tpudist_creation_frames = tuple(reversed(graphs.stack()))


def creation_frames(handle: Tensor) -> tuple[tuple[str, int], ...]:
    """((file, line), ...) of the calls that created an eager variable, the innermost first."""
    return getattr(handle, "_tpudist_creation_frames", ())


class Splittable:
    """A mirrored variable, which is stored once until it is split."""

    #: Whether a graph relies on it; see :func:`assume_equal`.
    _assumed_equal = other_strategies.Shared(lambda: False)

    #: Whether an op that initializes it was requested.
    _initializer_requested = other_strategies.Shared(lambda: False)

    #: {replica id: its copy} of those that code holds; see `assignable_copies`.
    _copies = other_strategies.Shared(weakref.WeakValueDictionary)

    @property
    def initializer(self) -> Operation:
        """The op that gives every copy its first value."""
        inherited: Any = super()
        self._initializer_requested = True
        return inherited.initializer

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether every copy has a value, a bool tensor."""
        inherited: Any = super()
        first = _only_copy(self)
        return inherited.is_initialized(name) if first is None else first.is_initialized(name)

    def _dense_var_to_tensor(
        self, dtype: object = None, name: object = None, as_ref: bool = False
    ) -> Tensor:
        """Its value; for a Saver of ``{name: variable}`` a direct read of the stored variable.

        A Saver finds the variable behind the read, so no op may stand between. It passes
        `as_ref`, which newer releases do not pass on.
        """
        inherited: Any = super()
        first: Any = _only_copy(self)
        in_session = functions.in_session_graph()
        if in_session and as_ref:
            self._require_one_value(first)
        elif first is None or not (in_session and _is_read_across()):
            return inherited._dense_var_to_tensor(dtype=dtype, name=name, as_ref=as_ref)
        return first._dense_var_to_tensor(dtype=dtype, name=name)

    def _require_one_value(self, first: object) -> None:
        if first is None:
            raise ContextError(
                "the variable %r, of which each replica has a copy, in a dictionary of a Saver"
                % self.name,  # type: ignore[attr-defined]
                "a Saver takes a tensor of it, and would restore the first copy alone",
                "tf.train.Saver([variable]), which restores every copy",
            )
        self._assumed_equal = True

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        inherited: Any = super()
        saveables: dict[str, Any] = inherited._gather_saveables_for_checkpoint()
        if tf.executing_eagerly():
            return {
                k: functools.partial(_saveable_once, self, make) for k, make in saveables.items()
            }
        if _only_copy(self) is None:
            return saveables
        return {key: functools.partial(_Saveable, self) for key in saveables}


class _Saveable(_SaveableObject):
    """Saves and restores the one stored variable, whose value is read once."""

    def __init__(self, variable: object, name: str | None = None) -> None:
        self._stored = _only_copy(variable)
        name = self._stored.name.split(":")[0] if name is None else name
        with tf.device(self._stored.device):
            value = graphs.read(self._stored.handle, self._stored.dtype)
        super().__init__(self._stored, [saver.BaseSaverBuilder.SaveSpec(value, "", name)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation | None:
        """The op that assigns what was restored; see the base class."""
        (value,) = restored_tensors
        if restored_shapes is not None:
            value = tf.reshape(value, restored_shapes[0])
        return self._stored.assign(value, read_value=False)


def _saveable_once(variable: Any, make: Any, name: str | None = None) -> object:
    """TensorFlow's saveable of `variable`; it restores each stored variable once."""
    saveable = make() if name is None else make(name=name)

    def restore(restored_tensors: Any, restored_shapes: object = None) -> Operation | None:
        stored = {id(copy): copy for copy in distributed.components(variable)}
        (value,) = restored_tensors
        return tf.group(*[copy.assign(value, read_value=False) for copy in stored.values()])

    saveable.restore = restore
    return saveable


def _is_read_across() -> bool:
    """Whether a read outside of replicas is not recorded; see `storage.Mirrored`."""
    return versions.TRACE_ONCE and tf.distribute.in_cross_replica_context()


def _only_copy(variable: object) -> Any:
    """The stored variable that all copies are, or None."""
    first, *others = distributed.components(variable)
    return first if all(copy is first for copy in others) else None
