"""Lets replica functions of other strategies on the slice use a variable.

A program may train on some cores and infer on all of them. On a TPU a replica finds its copy
of a variable by the core that it runs on, so that it does not matter whose strategy made it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, distributed_values, functions, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest, Strategy


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


class SharedOnSlice:
    """A variable that every strategy on its slice may use in replica functions.

    TensorFlow's variables refuse a strategy that is not `_distribute_strategy`, and ask it
    what is current.
    """

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
    """For each replica of a strategy, the position of the variable's copy on the replica's core.

    Raises:
      ContextError: (a RuntimeError) the variable has no copy on a replica's cores.
    """
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
    """Whether the current strategy's replicas run on all cores of a variable, in its order.

    The variable can then be used as if that strategy had made it.
    """
    other = strategy_here(variable)
    if other is None:
        return True
    count = len(variable._own_strategy.extended.placement.cores)
    return list(cores_of(variable, other.extended)) == list(range(count))


def refuse_aggregated(variable: Any) -> None:
    """Refuses an aggregating assignment if replicas run on some of the variable's cores only.

    Raises:
      ContextError: (a RuntimeError) see above.
    """
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
