"""How the virtual TPU stores variables.

A mirrored variable is one variable that every replica reads. A sync-on-read
variable is one variable per replica. A mirrored variable without aggregation
starts as one, and becomes one per replica when a replica function first
assigns it, because from then on the copies of a real TPU may differ.
"""

import weakref

import tensorflow as tf

from tpudist.core import functions
from tpudist.core import natives
from tpudist.core import traces
from tpudist.core import versions
from tpudist.errors import ContextError

NONE = tf.VariableAggregation.NONE


def is_stored_once(variable):
    """Whether all replicas of `variable` read one stored value."""
    parts = natives.components(variable)
    return len(parts) > 1 and parts[0] is parts[1]


def of_handle(handle):
    """The distributed variable of which `handle` is the first, or None."""
    return getattr(handle, "_tpudist_variable", lambda: None)()


def replica_handles(handle):
    """The handles per replica behind the one that a trace captured, if any."""
    variable = of_handle(handle)
    if variable is None or is_stored_once(variable):
        return None
    parts = natives.components(variable)
    if len(parts) == 1 or handle is not parts[0].handle:
        return None
    return [part.handle for part in parts]


def link(variable):
    """Lets :func:`replica_handles` find `variable` from its first handle."""
    natives.components(variable)[0].handle._tpudist_variable = weakref.ref(
        variable)


class StoredOnce(natives.MirroredVariable):
    """A mirrored variable whose components are the same stored variable."""

    _assumed_equal = False

    def _update_replica(self, update_fn, value, **kwargs):
        if self.aggregation == NONE and is_stored_once(self):
            _split(self)
        return super()._update_replica(update_fn, value, **kwargs)


def assume_equal(variable):
    """Notes that a traced program relies on `variable` being stored once."""
    if isinstance(variable, StoredOnce):
        variable._assumed_equal = True


def _split(variable):
    """Gives every replica its own copy of a variable without aggregation."""
    if variable._assumed_equal:
        raise ContextError(
            "variable %r (aggregation NONE) is assigned in a replica function"
            % variable.name,
            "a function traced earlier uses it as one value for all replicas, "
            "and from this assignment on the replicas' values may differ",
            "create it with aggregation=tf.VariableAggregation."
            "ONLY_FIRST_REPLICA (or SUM, MEAN), or call the function that "
            "assigns it before the ones that only read it")
    first = natives.components(variable)[0]
    extended = variable._distribute_strategy.extended
    count = len(natives.components(variable))
    with tf.init_scope(), extended.place():
        rest = [_copy_of(first, i) for i in range(1, count)]
    variable._values = (first,) + tuple(rest)
    for part in rest:
        part._distributed_container = weakref.ref(variable)
        part.handle._distributed_container = weakref.ref(variable)


def _copy_of(variable, replica_id):
    initial = (variable.read_value() if tf.executing_eagerly()
               else variable.initial_value)
    return natives.ResourceVariable(
        tf.identity(initial), trainable=False, aggregation=NONE,
        name="%s/replica_%d/" % (variable.name.split(":")[0], replica_id))


def classes():
    """The classes that mirrored and sync-on-read variables are wrapped in."""
    mirrored = (StoredOnce if versions.ASSIGN_WITHOUT_AGGREGATION
                else natives.MirroredVariable)
    return mirrored, natives.SyncOnReadVariable


def create(extended, next_creator, kwargs):
    """Creates one distributed variable; see ``tf.distribute``'s scope.

    Args:
      extended: the `VirtualExtended`.
      next_creator: the next variable creator of the scope.
      kwargs: the creation arguments.

    Returns:
      The distributed variable: one stored variable if it is mirrored, one
      per replica if it is synchronised on read.
    """
    colocate_with = kwargs.pop("colocate_with", None)
    if hasattr(colocate_with, "device") and natives.is_single_device(
            colocate_with):
        with tf.device(colocate_with.device):
            return next_creator(**kwargs)
    count = extended._num_replicas_in_sync

    def per_replica(**kwargs):
        on_read = (kwargs.get("synchronization")
                   == tf.VariableSynchronization.ON_READ)
        with extended.place():
            first = next_creator(**kwargs)
            if not on_read:
                return [first] * count
            return [first] + [_sibling(first, i, next_creator, dict(kwargs))
                              for i in range(1, count)]

    with traces.outside(kwargs):
        variable = natives.create_distributed_variable(
            extended, per_replica, classes()[0], classes()[1], kwargs)
    link(variable)
    return variable


def _sibling(first, replica_id, next_creator, kwargs):
    def initial_value():
        if tf.executing_eagerly() or functions.in_function():
            return tf.identity(first.value())
        return tf.identity(first.initial_value)
    kwargs["initial_value"] = initial_value
    kwargs["name"] = "%s/replica_%d/" % (first.name.split(":")[0], replica_id)
    return next_creator(**kwargs)
