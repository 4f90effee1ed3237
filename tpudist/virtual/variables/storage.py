"""Makes the virtual TPU's variables, and defines their classes.

A mirrored variable is one variable that every replica reads. A sync-on-read variable is one
variable per replica. A mirrored variable is split into one per replica when a replica function
assigns it without aggregation, or an update gives it, a value that replicas may not share: from
then on the copies of a real TPU may differ. :mod:`splits` does that.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.tfcompat import distributed, functions, versions
from tpudist.virtual import reductions
from tpudist.virtual.trace import function_graphs
from tpudist.virtual.variables import splits, stored_once

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Extended, Fn, Kwargs, Nest, Tensor, Value, Variable


NONE = tf.VariableAggregation.NONE


def per_replica_variable(handle: Tensor) -> Value | None:
    """The variable with a copy per replica whose first copy has `handle`; None if there is none."""
    variable = stored_once.of_handle(handle)
    if variable is None or stored_once.is_stored_once(variable):
        return None
    copies = distributed.components(variable)
    return variable if len(copies) > 1 and handle is copies[0].handle else None


def positions(variable: Variable, extended: Extended) -> Sequence[int]:
    """For each replica of `extended` the position of its copy of a `variable` with several."""
    creator = getattr(variable, "_own_strategy", None)  # The replica ids have none.
    if creator is not None and extended is not creator.extended:
        return stored_once.cores_of(variable, extended)
    return range(len(extended.worker_devices))


if versions.BY_DEVICE:
    from tpudist.tfcompat import distributed_before_2_2

    class Mirrored(stored_once.Splittable, distributed_before_2_2.MirroredVariable):
        """A mirrored variable, on releases where TensorFlow finds a copy by its device."""

        values = property(splits.copies_of)

        _op_across = stored_once.Shared(lambda: None)

        @property
        def op(self) -> Nest:
            """The op of the copy; in cross-replica context one op for all, made once."""
            inherited: Any = super()
            if tf.distribute.get_replica_context() is not None:
                return inherited.op
            if self._op_across is None:
                self._op_across = inherited.op
            return self._op_across

        def get(self, device: str | None = None) -> Nest:
            """The copy of a device, or the one that is current."""
            inherited: Any = super()
            extended = self._own_strategy.extended
            if distributed.is_updating():
                if extended.updates_copies and stored_once.may_split(self):
                    splits.split(self)
                # An optimizer requests the slot on a copy's device, the same for all.
                return inherited.get(device if device in extended.worker_devices else None)
            # 1.13 can regroup the results of towers if they are one variable, or on their devices.
            is_argument = not versions.DEVICE_MAP and extended.replicas is not None
            if stored_once.may_split(self):
                if device is not None and not is_argument:
                    return splits.copy_of_replica(
                        self, distributed_before_2_2.position(self, device)
                    )
                if not tf.executing_eagerly() and tf.distribute.get_replica_context() is not None:
                    stored_once.assume_equal(self)
            return inherited.get(device)

else:

    class Mirrored(  # type: ignore[no-redef]
        stored_once.Splittable, stored_once.SharedOnSlice, distributed.MirroredVariable
    ):
        """A mirrored variable."""

        values = property(splits.copies_of)

        @property
        def handle(self) -> Tensor:
            """The resource of the current replica's copy."""
            if self._updates_copies():
                splits.split(self)
            self._record_read()
            return super().handle

        def _get(self) -> Nest:
            self._record_read()
            return super()._get()

        def _record_read(self) -> None:
            if not versions.TRACE_ONCE and not tf.executing_eagerly():  # they call no _get_replica
                stored_once.assume_equal(self)

        def _get_replica(self, replica_id: int) -> Nest:
            if self._updates_copies() and not self._assumed_equal:
                splits.split(self)
            elif replica_id and not tf.executing_eagerly():
                stored_once.assume_equal(self)
            return super()._get_replica(replica_id)

        def _mirrored_update(self, fn: Fn, *values: Any, **kwargs: Any) -> Nest:  # what 2.2 calls
            if self.aggregation != NONE:
                stored_once.refuse_aggregated(self)
            values = tuple(reductions.of_tensors(value, self.dtype) for value in values)
            return super()._mirrored_update(fn, *values, **kwargs)

        def _update(self, update_fn: Fn, value: object, **kwargs: Any) -> Nest:
            if self.aggregation != NONE:
                stored_once.refuse_aggregated(self)
            if self._updates_copies():
                splits.split(self)
            value = reductions.of_tensors(value, self.dtype)
            return super()._update(update_fn, value, **kwargs)

        def _updates_copies(self) -> bool:
            """Whether it is a slot by which a variable that was split is updated."""
            extended = self._own_strategy.extended
            return extended.updates_copies and stored_once.is_stored_once(self)

        def _update_replica(self, update_fn: Fn, value: object, **kwargs: Any) -> Nest:
            if (
                self.aggregation == NONE
                and stored_once.is_stored_once(self)
                and (self._own_strategy.extended.splits_variables)
            ):
                if stored_once.runs_on_all_cores_of(self):
                    is_updated, result = splits.update_once(self, update_fn, value, kwargs)
                    if is_updated:
                        return result
                splits.split(self)
            return super()._update_replica(update_fn, value, **kwargs)

        def _get_closest(self) -> Nest:
            """The copy that is being updated: all are on the current device."""
            inherited: Any = super()
            if not distributed.is_updating():
                return inherited._get_closest()
            if self._updates_copies():
                splits.split(self)
            return distributed.components(self)[distributed.updated_replica()]


class SyncOnRead(stored_once.SharedOnSlice, distributed.SyncOnReadVariable):
    """A sync-on-read variable as the installed TensorFlow has it: one value per core."""

    def assign_add(self, *args: Any, **kwargs: Any) -> Nest:
        """Adds to the replica's value; in a step of Estimator a tensor, as on a TPU.

        Estimator asks of which graph the update of a metric is.
        """
        added = super().assign_add(*args, **kwargs)
        if self._own_strategy.extended.runs_as_session and distributed.is_assignment(added):
            return added.read_value()
        return added

    def _get_cross_replica(self) -> Nest:
        """The replicas' values, reduced; one of them where Keras asks for the shape alone."""
        inherited: Any = super()
        if functions.is_in_a_graph_of_keras():
            return distributed.components(self)[0].read_value()
        return inherited._get_cross_replica()


class SetAnywhere(SyncOnRead):
    """A sync-on-read variable that cross-replica code may add to, and any code may assign.

    TensorFlow 1.14 lets replica functions alone set them, but its Keras sets metrics and moving
    statistics, mirrored on its TPUs, in cross-replica context and outside of the scope.
    """

    def assign(self, *args: Any, **kwargs: Any) -> Nest:
        """Gives the variable a value; all copies of it outside of a replica function."""
        strategy = self._distribute_strategy
        context = tf.distribute.get_replica_context()
        if context is None or context.strategy is strategy:
            return super().assign(*args, **kwargs)
        with distributed.cross_replica(strategy):
            return super().assign(*args, **kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Nest:
        """Adds to what is read: in cross-replica context to one copy of a sum, else to all."""
        if tf.distribute.get_replica_context() is not None:
            return super().assign_add(*args, **kwargs)
        copies = distributed.components(self)
        if self.aggregation == tf.VariableAggregation.SUM:
            copies = copies[:1]
        return tf.group(*[copy.assign_add(*args, **kwargs) for copy in copies])


#: The class that sync-on-read variables are wrapped in.
_SYNC_ON_READ = SyncOnRead if versions.SYNC_ON_READ_ADDS_ACROSS else SetAnywhere


def replica_id(extended: Extended) -> Tensor | None:
    """The replica's id, read from a variable that holds it; None if that would need a Session.

    A tf.function in the replica function may outlive the trace, so it can use no tensor of it.
    """
    with tf.init_scope():
        if not tf.executing_eagerly():
            return None
        if extended.replica_ids is None:
            with extended.place():
                extended.replica_ids = distributed.per_replica(
                    extended,
                    [
                        distributed.ResourceVariable(i, trainable=False)
                        for i in distributed.local_replicas(extended)
                    ],
                )
            stored_once.register(extended.replica_ids)
    return distributed.components(extended.replica_ids)[0].read_value()


def create(extended: Extended, next_creator: Fn, kwargs: dict[str, Any]) -> Value:
    """Creates a distributed variable: one stored variable if it is mirrored, else several."""
    colocate_with = kwargs.pop("colocate_with", None)
    if hasattr(colocate_with, "device") and distributed.is_single_device(colocate_with):
        with tf.device(colocate_with.device):
            return next_creator(**kwargs)
    count = len(extended.worker_devices)
    aggregation = kwargs.get("aggregation", NONE)  # TensorFlow up to 2.4 removes it below
    if kwargs.get("trainable", True) is None:
        # In a graph TensorFlow replaces the copies in the trainable collection by
        # the distributed variable only if `trainable` was given, so give it.
        kwargs["trainable"] = kwargs.get("synchronization") != (tf.VariableSynchronization.ON_READ)

    def per_replica(**kwargs: Any) -> list[Any]:
        # Until 2.3 ``ops.init_scope`` keeps a replica's device label, which the variable would get.
        skips = not versions.TRACE_ONCE and functions.in_function()
        real = tf.device(extended.real_device) if skips else contextlib.nullcontext()
        with extended.place(), real:
            first = next_creator(**kwargs)

            def make(replica_id: int) -> Variable:
                def initial_value() -> Tensor:
                    has_value = tf.executing_eagerly() or functions.in_function()
                    return tf.identity(first.value() if has_value else first.initial_value)

                name = distributed.replica_name(first, replica_id)
                return next_creator(**dict(kwargs, initial_value=initial_value, name=name))

            if _starts_split(kwargs, colocate_with, aggregation):
                return [first] + [make(i) for i in range(1, count)]
            splits.copy_makers()[first] = make
            return [first] * count

    with function_graphs.outside(kwargs):
        variable = distributed.create_distributed_variable(
            extended, per_replica, Mirrored, _SYNC_ON_READ, kwargs
        )
    variable._own_strategy = extended._container_strategy()
    stored_once.register(variable)
    return variable


def _starts_split(kwargs: Kwargs, colocate_with: object, aggregation: object) -> bool:
    """Whether a new variable gets one copy per replica from the start.

    Slots of a split variable do, and what a replica function may assign in a TF 1 graph, which is
    not traced again: a variable that is neither trainable nor a slot (colocated with a variable).
    """
    if kwargs.get("synchronization") == tf.VariableSynchronization.ON_READ:
        return True
    if isinstance(colocate_with, stored_once.Splittable):
        if not stored_once.is_stored_once(colocate_with):
            return True
    return (
        versions.ASSIGN_WITHOUT_AGGREGATION
        and colocate_with is None
        and aggregation == NONE
        and kwargs.get("trainable") is False
        and not tf.executing_eagerly()
        and not functions.in_function()
    )
