"""Stacked copies: a variable's copies, one per replica, as rows of one stored variable.

Replica 0's copy is the variable that all replicas shared; those of the others are the rows
of a second one. A step reads and assigns two variables then, however many replicas there
are. A copy is unstacked, into a variable of its own, for an op that needs its handle, and
stacked again after the op.
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, functions, versions
from tpudist.virtual import constants, lazy_values
from tpudist.virtual.trace import function_graphs
from tpudist.virtual.variables import shared_state

#: Ops that assign a whole variable, and with them the one that reads it.
ASSIGNS = ("AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp")
PLAIN = (*ASSIGNS, "ReadVariableOp")

#: Methods that read a variable by its handle.
_READS = ("gather_nd", "sparse_read")

#: Members that are the same of every copy.
_SHARED = ("device", "graph")


class StackedCopies(lazy_values.Parts):
    """The copies of a variable, one per replica.

    Args:
      first: the variable that all replicas shared, a resource variable with a value.
      count: number of replicas, at least 2.
      place: gives a context in which variables are made.

    Attributes:
      first: the copy of replica 0.
      others: the variable ``[count - 1] + shape`` of the other replicas' copies.
    """

    def __init__(self, first: Any, count: int, place: Callable[[], Any]) -> None:
        super().__init__(count, self._copy)
        self.first, self._place = first, place
        name = first.name.split(":")[0] + "/others"
        self.others = distributed.ResourceVariable(
            self.repeated_first(), trainable=False, name=name
        )
        self._unstacked: dict[int, Any] = {}

    def _copy(self, index: int) -> Any:
        return (
            shared_state.stand_in(_Copy, self.first, "_copy", (self, index))
            if index
            else self.first
        )

    def repeated_first(self) -> Any:
        """The first copy's value, as a row for each of the other replicas."""
        return constants.repeated(self.first.read_value(), len(self) - 1)

    def values(self) -> list[Any]:
        """The value of each replica's copy."""
        return [self.first.read_value()] + tf.unstack(self.others.read_value())

    def read(self, index: int) -> Any:
        """The value of the copy of a replica that is not the first."""
        return self.others.sparse_read(index - 1)

    def store(self, index: int, value: Any) -> Any:
        """Assigns the copy of a replica that is not the first; returns the op, eagerly None."""
        return tf.raw_ops.ResourceStridedSliceAssign(
            ref=self.others.handle,
            begin=[index - 1],
            end=[index],
            strides=[1],
            value=value,
            shrink_axis_mask=1,
        )

    def unstack(self, index: int) -> Any:
        """A variable for the copy of a replica but the first; :meth:`load` sets its value."""
        if index not in self._unstacked:
            with function_graphs.outside({}), self._place(), tf.init_scope():
                zeros = tf.zeros(self.first.shape, self.first.dtype)
                name = distributed.replica_name(self.first, index)
                variable = distributed.ResourceVariable(zeros, trainable=False, name=name)
            self._unstacked[index] = variable
        return self._unstacked[index]

    def unstack_all(self) -> list[Any]:
        """A variable for each replica's copy; see :meth:`load`."""
        return [self.first] + [self.unstack(i) for i in range(1, len(self))]

    def load(self) -> list[Any]:
        """The ops that assign all unstacked variables the values of their rows."""
        values = tf.unstack(self.others.read_value())
        copies = self.unstack_all()[1:]
        return [copy.assign(v, read_value=False) for copy, v in zip(copies, values)]

    def restack(self) -> list[Any]:
        """The ops that assign all rows the values of the variables that are unstacked for them."""
        values = [unstacked.read_value() for unstacked in self.unstack_all()[1:]]
        return [self.others.assign(tf.stack(values), read_value=False)]


if versions.VARIABLES_EXPORT_THEMSELVES:
    _Resource: Any = tf.saved_model.experimental.TrackableResource
else:
    _Resource = object


class SavedRows(_Resource):
    """Saves the rows of the other replicas in a SavedModel, for the functions that use them.

    TensorFlow saves the value of the first copy; where the SavedModel is loaded, all copies
    start with that value.

    Args:
      rows: the `StackedCopies`.
    """

    def __init__(self, rows: StackedCopies) -> None:
        super().__init__()
        self._rows = rows
        self._resource_handle = rows.others.handle

    def _create_resource(self) -> Any:
        others = self._rows.others
        name = functions.anonymous_name()
        return tf.raw_ops.VarHandleOp(dtype=others.dtype, shape=others.shape, shared_name=name)

    def _initialize(self) -> None:
        value = self._rows.repeated_first()
        tf.raw_ops.AssignVariableOp(resource=self.resource_handle, value=value)


def of(variable: Any) -> StackedCopies | None:
    """The `StackedCopies` that the copies of a distributed variable are, or None."""
    if not versions.VARIABLES_EXPORT_THEMSELVES:  # and 1.13 has no `_values`
        return None
    copies = getattr(variable, "_values", None)
    return copies if isinstance(copies, StackedCopies) else None


class _Copy:
    """Members in which a copy that is a row differs from a variable of its own."""

    __slots__ = ()
    _copy: tuple[StackedCopies, int]

    @staticmethod
    def members(base: Any) -> dict[str, Any]:
        """Its methods that need a handle, and what is the same of every copy."""
        names = [name for name in distributed.ASSIGNMENTS if hasattr(base, name)]
        members: dict[str, Any] = {name: _assigning(name) for name in names if name != "assign"}
        members.update((name, _reading(name)) for name in _READS)
        members.update((name, _of_first(name)) for name in _SHARED)
        return members

    @property
    def name(self) -> str:
        """The name of the copy."""
        rows, index = self._copy
        return distributed.replica_name(rows.first, index)[:-1] + ":0"

    @property
    def _distributed_container(self) -> Any:
        """Gives the variable that it is a copy of."""
        first = self._copy[0].first
        return first.handle._distributed_container

    @property
    def handle(self) -> Any:
        """Refused: there is none.

        Raises:
          ContextError: (a RuntimeError) always.
        """
        raise ContextError(
            "the handle of %r, a replica's copy of a variable, is asked for" % self.name,
            "replica functions gave the copies values of their own, which are stored as rows of "
            "one variable: what is done to a handle would not reach them",
            "a method of the copy: copy.read_value(), copy.assign(value), "
            "copy.scatter_update(tf.IndexedSlices(values, indices))",
        )

    @property
    def _handle(self) -> Any:
        """The handle that TensorFlow reads where it converts the variable to a tensor."""
        return self._loaded().handle

    def _loaded(self) -> Any:
        rows, index = self._copy
        unstacked = rows.unstack(index)
        unstacked.assign(rows.read(index))
        return unstacked

    def _read_variable_op(self, *unused: Any, **options: Any) -> Any:
        rows, index = self._copy
        return rows.read(index)

    def is_initialized(self, name: str | None = None) -> Any:
        """Whether it has a value, a bool tensor."""
        return self._copy[0].others.is_initialized(name)

    def assign(
        self, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Gives this replica's copy a value; see ``tf.Variable.assign``."""
        inherited: Any = self
        value = tf.convert_to_tensor(value, inherited.dtype)
        inherited.shape.assert_is_compatible_with(value.shape)
        return self._stored(value, read_value)

    def _stored(self, value: Any, read_value: bool) -> Any:
        rows, index = self._copy
        op = rows.store(index, value)
        if tf.executing_eagerly():
            return self if read_value else None
        with tf.control_dependencies([op]):
            return rows.read(index) if read_value else tf.no_op()


def _reading(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._loaded(), name)(*args, **kwargs)

    method.__name__ = name
    return method


def _assigning(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        unstacked = self._loaded()
        result = getattr(unstacked, name)(*args, **kwargs)
        is_read = isinstance(result, tf.Variable)
        stored = self._stored(unstacked.read_value(), is_read)
        return result if tf.is_tensor(result) and not is_read else stored

    method.__name__ = name
    return method


def _of_first(name: str) -> property:
    return property(lambda self: getattr(self._copy[0].first, name))
