"""Keeps one stored copy of a variable, for the graphs and strategies that rely on there being one.

TensorFlow checks each copy for a value, and assigns each when a checkpoint is restored.
Copies that are one stored variable are checked and assigned once.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, Callable, Sequence

import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, distributed_values, functions, graphs, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest, Operation, Strategy, Tensor, Variable


def is_stored_once(variable: Variable | Splittable) -> bool:
    """Whether all replicas of `variable` read one stored value."""
    copies = distributed.components(variable)
    return len(copies) > 1 and copies[0] is copies[1]


def may_split(value: object) -> bool:
    """Whether `value` is a mirrored variable that is stored once for several replicas."""
    return isinstance(value, Splittable) and is_stored_once(value)


def assume_equal(variable: Variable, for_good: bool = False) -> None:
    """Records that a graph relies on one value; `for_good` if its handles are fixed."""
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


class Shared:
    """An attribute that a variable and what wraps it have in common; `make` gives its first value.

    Keras wraps a variable for mixed precision in an ``AutoCastVariable``, whose class inherits the
    variable's. It asks the variable for what neither it nor its class has: an attribute with a
    default in the class would never be asked for, and one that is set would be set on the wrapper.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, variable: object, owner: type) -> Any:
        if variable is None:
            return self
        state = _state(variable)
        if self._name not in state:
            state[self._name] = self._make()
        return state[self._name]

    def __set__(self, variable: object, value: object) -> None:
        _state(variable)[self._name] = value


def _state(variable: object) -> dict[str, Any]:
    """{attribute: value} of a variable, or of the variable that it wraps."""
    own = vars(variable)
    if "_variable" in own:  # of Keras' AutoCastVariable
        return _state(own["_variable"])
    state: dict[str, Any] = own.setdefault("_tpudist_state", {})
    return state


class Splittable:
    """A mirrored variable, which is stored once until it is split."""

    #: Whether a graph relies on it; see :func:`assume_equal`.
    _assumed_equal = Shared(lambda: False)

    #: Whether an op that initializes it was requested.
    _initializer_requested = Shared(lambda: False)

    #: {replica id: its copy} of those that code holds; see `splits`.
    _copies = Shared(weakref.WeakValueDictionary)

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
        across = tf.distribute.in_cross_replica_context()  # where a read is not recorded
        if in_session and as_ref:
            if first is None:
                raise ContextError(
                    "the variable %r, of which each replica has a copy, in a dictionary of a Saver"
                    % self.name,  # type: ignore[attr-defined]
                    "a Saver takes a tensor of it, and would restore the first copy alone",
                    "tf.train.Saver([variable]), which restores every copy",
                )
            self._assumed_equal = True
        elif first is None or not in_session or not versions.TRACE_ONCE or not across:
            return inherited._dense_var_to_tensor(dtype=dtype, name=name, as_ref=as_ref)
        return first._dense_var_to_tensor(dtype=dtype, name=name)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        inherited: Any = super()
        saveables: dict[str, Any] = inherited._gather_saveables_for_checkpoint()
        if not tf.executing_eagerly() and _only_copy(self) is None:
            return saveables
        return {k: functools.partial(_saveable_once, self, make) for k, make in saveables.items()}


def _saveable_once(variable: Any, make: Any, name: str | None = None) -> object:
    """TensorFlow's saveable of `variable`; it restores each stored variable once."""
    saveable = make() if name is None else make(name=name)

    def restore(restored_tensors: Any, restored_shapes: Any = None) -> Operation | None:
        stored = {id(copy): copy for copy in distributed.components(variable)}
        (value,) = restored_tensors
        if restored_shapes is not None:
            value = tf.reshape(value, restored_shapes[0])
        return tf.group(*[copy.assign(value, read_value=False) for copy in stored.values()])

    saveable.restore = restore
    return saveable


def _only_copy(variable: object) -> Any:
    """The stored variable that all copies are, or None."""
    first, *others = distributed.components(variable)
    return first if all(copy is first for copy in others) else None


# Other strategies on the slice. A program may train on some cores and infer on all of them. On a
# TPU a replica finds its copy of a variable by its core, whose strategy made it or not.


class SharedOnSlice:
    """A variable that every strategy on its slice may use in replica functions."""

    #: The strategy that made it.
    _own_strategy = Shared(lambda: None)

    @property
    def _distribute_strategy(self) -> Strategy:
        other = strategy_here(self)
        return self._own_strategy if other is None else other

    @_distribute_strategy.setter
    def _distribute_strategy(self, strategy: object) -> None:
        self._own_strategy = strategy

    def _copy_here(self) -> Nest:
        """The copy of the replica that is current; None if TensorFlow finds it itself."""
        other = strategy_here(self)
        context: Any = tf.distribute.get_replica_context()
        if other is None or getattr(context, "stands_for_all", False):
            return None  # the engine then chooses a copy for each replica
        replica = functions.static_value(context.replica_id_in_sync_group)
        return distributed.components(self)[cores_of(self, other.extended)[replica]]

    if versions.BY_DEVICE:

        def get(self, device: str | None = None) -> Nest:
            """The copy of a device, or of the replica that is current."""
            inherited: Any = super()
            copy = self._copy_here() if device is None else None
            return inherited.get(device) if copy is None else copy

    else:

        def get(self, device: str | None = None) -> Nest:
            """The copy of a device, or the one that is current (a method until 2.1)."""
            if device is None:
                return self._get()
            variable: Any = self
            position = distributed_values.position(
                self._own_strategy.extended.worker_devices, device
            )
            return variable.values[position]

        def _get(self) -> Nest:
            inherited: Any = super()
            copy = self._copy_here()
            return inherited._get() if copy is None else copy

        def _get_replica(self, replica_id: int) -> Nest:
            inherited: Any = super()
            copy = self._copy_here()
            return inherited._get_replica(replica_id) if copy is None else copy

    def _get_closest(self) -> Nest:
        inherited: Any = super()
        copy = self._copy_here()
        return inherited._get_closest() if copy is None else copy


def strategy_here(variable: Any) -> Strategy | None:
    """The strategy whose replica function is current, if it is another on the variable's slice."""
    own = variable._own_strategy
    context = tf.distribute.get_replica_context()
    if own is None or context is None or context.strategy is own:
        return None
    system = getattr(context.strategy.extended, "system", None)
    return context.strategy if system == own.extended.system else None


def cores_of(variable: Any, extended: Any) -> Sequence[int]:
    """For each replica of a strategy, the position of the variable's copy on the replica's core."""
    own = variable._own_strategy.extended.placement.cores
    position_of = {cores[0]: i for i, cores in enumerate(own)}
    positions = []
    for replica, cores in enumerate(extended.placement.cores):
        candidates = [position_of[core] for core in cores if core in position_of]
        if not candidates:
            raise ContextError(
                "variable %r is used on cores %s by replica %d of another strategy"
                % (variable.name, list(cores), replica),
                "the strategy that made it has a copy of it on each of its own cores alone: %s"
                % sorted(position_of),
                "make the variable in the scope of a strategy that uses these cores too",
            )
        positions.append(candidates[0])
    return positions


def runs_on_all_cores_of(variable: Any) -> bool:
    """Whether the current strategy's replicas run on all cores of a variable, in its order."""
    other = strategy_here(variable)
    if other is None:
        return True
    count = len(variable._own_strategy.extended.placement.cores)
    return list(cores_of(variable, other.extended)) == list(range(count))


def refuse_aggregated(variable: Any) -> None:
    """Refuses an aggregating assignment if replicas run on some of the variable's cores only."""
    if runs_on_all_cores_of(variable):
        return
    other = strategy_here(variable)
    raise ContextError(
        "variable %r, which aggregates (%s), was assigned in a replica function of another "
        "strategy: Mixing different tf.distribute.Strategy objects: %r is not %r, the strategy "
        "that made it" % (variable.name, variable.aggregation, other, variable._own_strategy),
        "the replicas on the variable's other cores would have to assign it too",
        "assign it in a replica function of the strategy that made it; hand values over in a "
        "variable with synchronization=tf.VariableSynchronization.ON_READ",
    )
