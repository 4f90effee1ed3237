"""Splits variables: each replica gets a copy of its own of one that was stored once.

A variable without aggregation that a replica function assigns is a copy per replica on a TPU.
Here it stays stored once while all replicas assign the same value (:func:`update_once`), and is
split as soon as their values may differ (:func:`update`).
"""

from __future__ import annotations

import functools
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, functions, graphs, nests, versions
from tpudist.virtual.trace import function_graphs
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.variables import stored_once

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Fn, Nest, Tensor, Variable


#: The beginnings of the types of ops that write to a handle.
_WRITES = tuple(
    "Assign ResourceApply ResourceCountUpTo ResourceScatter ResourceSparseApply "
    "ResourceStridedSliceAssign "
    "RngReadAndSkip RngSkip StatefulRandomBinomial StatefulStandardNormal StatefulTruncatedNormal "
    "StatefulUniform".split()  # these of a tf.random.Generator
)

#: Ops that pass a handle on.
_FORWARDING = ("Enter", "Identity", "Switch")


def is_relied_on(variable: Variable) -> bool:
    """Whether a graph built earlier relies on a variable's being stored once."""
    return variable._assumed_equal not in (False, variable._own_strategy.extended.replicas)


def split(variable: Any) -> None:
    """Gives every replica its own copy of a variable that was stored once."""
    _check(variable)
    extended = variable._own_strategy.extended
    first = distributed.components(variable)[0]
    count = len(distributed.components(variable))
    traced = extended.replicas.ops() if extended.replicas else []
    with function_graphs.outside({}), extended.place():
        make = copy_makers().get(first)
        rest = [make(i) for i in range(1, count)] if make else _made_copies(first, count)
    copies = (first, *rest)
    distributed.replace_components(variable, copies)
    for i, held in variable._copies.items():  # those that code holds get values of their own
        object.__setattr__(held, "__dict__", copies[i].__dict__)
    for copy in rest:
        container = weakref.ref(variable) if versions.CONTAINERS_ARE_WEAK else variable
        copy._distributed_container = container
        handle: Any = copy.handle
        handle._distributed_container = container
    if traced:
        extended.replicas.use_own_handles(traced, [copy.handle for copy in copies])


def _check(variable: Variable) -> None:
    """Refuses to split a variable that a graph relies on."""
    if is_relied_on(variable):
        raise ContextError(
            "variable %r is given a value per replica" % variable.name,
            "a graph built earlier uses it as one value for all replicas, "
            "and from this assignment on the replicas' values may differ",
            "call the function that assigns it before the ones that only read it; or, if one "
            "value is meant, give the variable aggregation=tf.VariableAggregation."
            "ONLY_FIRST_REPLICA (or SUM, MEAN), or the update a value from all_reduce",
        )


def update_once(
    variable: Any, update_fn: Fn, value: object, kwargs: dict[str, Any]
) -> tuple[bool, Any]:
    """Updates `variable` once for all replicas, if `value` is the same on every replica.

    Context: replica. ``update_fn(copy, value, **kwargs)`` assigns.

    Returns (True, the result of the assignment), or (False, None) where the replicas' values may
    differ, or a merge is not possible.
    """
    trace: Any = function_graphs.current()
    if trace is None or trace.uniformity is None:
        return False, None
    if tf.compat.v1.get_default_graph() is not trace.graph or functions.control_flow_context():
        return False, None
    value = nests.map_structure(
        lambda leaf: tf.convert_to_tensor(leaf) if isinstance(leaf, tf.Variable) else leaf, value
    )
    if not all(map(trace.uniformity.holds, nests.flatten(value))):
        return False, None

    def merge_fn(unused_strategy: object, value: object) -> None:
        variable._update_cross_replica(update_fn, value, **kwargs)

    trace.merge(merge_fn, (value,), {})
    if tf.executing_eagerly():  # in tf.init_scope, where it is done at once
        return True, variable
    trace.merges[-1].assigned = variable
    op = tf.no_op()
    if not kwargs.get("read_value", True):
        return True, op
    return True, variable._primary._lazy_read(op)


def _made_copies(variable: Variable, count: int) -> list[Variable]:
    """Variables for the replicas but the first, with the current value of `variable`."""
    make = functools.partial(distributed.ResourceVariable, trainable=variable.trainable)
    names = [distributed.replica_name(variable, i) for i in range(1, count)]
    with tf.init_scope():
        if tf.executing_eagerly():
            # All are made under one name: TensorFlow keeps a kernel for each name of a handle.
            value, one_name = variable.read_value(), variable.name.split(":")[0] + "/"
            copies = [make(value, name=one_name) for _ in names]
            for copy, name in zip(copies, names):
                copy._handle_name = name[:-1] + ":0"
            return copies
        copies = [make(tf.identity(variable.initial_value), name=name) for name in names]
        keys = tf.compat.v1.GraphKeys
        for key in (keys.GLOBAL_VARIABLES, keys.TRAINABLE_VARIABLES):  # they have the container
            collection = tf.compat.v1.get_default_graph().get_collection_ref(key)
            collection[:] = [one for one in collection if not any(one is copy for copy in copies)]
    return copies


def copy_makers() -> IdentityMap[Any, Any]:
    """{variable: makes its copies} of the variables that the current function created.

    Such a variable has no value to copy: TensorFlow initialises it when the
    function has been traced. Outside of a function the map is not kept.
    """
    if not functions.in_function():
        return IdentityMap()
    graph = tf.compat.v1.get_default_graph()
    if not hasattr(graph, "_tpudist_makers"):
        graph._tpudist_makers = IdentityMap()
    return graph._tpudist_makers


# Ops that write a variable by its handle, not by a method.


def split_written(ops: Iterable[Any]) -> None:
    """Splits variables stored once that `ops`, of replicas, write by their handles."""
    for op in ops:
        for variable in map(stored_once.of_handle, written(op)):
            if stored_once.may_split(variable):
                split(variable)


def written(op: Any) -> list[Any]:
    """The handles, of the graph outside of the trace of `op`, that it writes to."""
    return [functions.captured(_source(op.inputs[i])) for i in _written_inputs(op)]


def _written_inputs(op: Any) -> set[int]:
    """The numbers of the inputs that `op`, or a function that it calls, writes to."""
    if op.type == "Placeholder" or op.type in graphs.READS:
        return set()
    handles = [i for i, tensor in enumerate(op.inputs) if functions.is_resource(tensor)]
    if not handles:
        return set()
    if op.type.startswith(_WRITES):
        return set(handles)
    numbers: set[int] = set()
    for graph in filter(None, graphs.graphs_called_by(op)):
        before = len(op.inputs) - len(graph.inputs)  # the condition of an If
        position = {id(tensor): before + i for i, tensor in enumerate(graph.inputs)}
        for inner in graph.get_operations():
            keys = [id(_source(inner.inputs[i])) for i in _written_inputs(inner)]
            numbers.update(position[key] for key in keys if key in position)
    return numbers


def _source(tensor: Any) -> Tensor:
    """The handle that `tensor` is, seen through ops that pass it on."""
    while tensor.op.type in _FORWARDING:
        tensor = tensor.op.inputs[0]
    return tensor


# Cross-replica code gets a copy for each replica, also of a variable that is stored once: it reads
# the one stored variable, and assigning it splits the variable. Where a graph relies on the one
# value, a program that sets every copy in a loop gets a warning and continues.

#: Assignments that give the same value when a loop repeats them for every copy.
_REPEATABLE = ("assign", "load")


def copies_of(value: object) -> tuple[Any, ...]:
    """The copies of `value` for code that may assign one; ``(value,)`` if it has none."""
    copies = distributed.components(value)
    if not stored_once.may_split(value) or distributed.is_updating():
        return copies
    return tuple(copy_of_replica(value, i) for i in range(len(copies)))


def copies_of_nest(structure: Any, copies: Any) -> Sequence[Any]:
    """Replaces `copies`, TensorFlow's for `structure`, by :func:`copies_of` where needed."""
    if distributed.is_distributed(structure):
        return copies_of(structure) if stored_once.may_split(structure) else copies
    if not any(map(stored_once.may_split, nests.flatten(structure))):
        return copies

    def own(leaf: object, i: int) -> Nest:
        return copies_of(leaf)[i] if distributed.is_distributed(leaf) else leaf

    return tuple(
        nests.map_structure(lambda leaf, i=i: own(leaf, i), structure) for i in range(len(copies))
    )


def copy_of_replica(variable: Any, index: int) -> Nest:
    """The copy of replica `index`, of a variable that is stored once."""
    made = variable._copies.get(index)
    if made is None:
        stored = distributed.components(variable)[0]
        cls: Any = _class_for(type(stored))  # type: ignore[arg-type]
        made = variable._copies[index] = cls.__new__(cls)
        object.__setattr__(made, "__dict__", stored.__dict__)
        object.__setattr__(made, "_copy", (variable, index))
    return made


@functools.lru_cache(maxsize=None)
def _class_for(base: type) -> type[Any]:
    """The class of copies of a stored variable, whose class is `base`; they share its state."""
    names = [name for name in distributed.ASSIGNMENTS if hasattr(base, name)]
    members: dict[str, Any] = {name: _assigning(base, name) for name in names}
    members.update((name, _without_read(name)) for name in ("device", "graph", "op"))
    members.update(__slots__=("_copy",), __module__=base.__module__)
    return type(base)(base.__name__, (_Copy, base), members)


class _Copy:
    """Members in which a copy of a variable that is stored once differs from what is stored."""

    __slots__ = ()
    _copy: tuple[Any, int]

    @property
    def _handle(self) -> Tensor:
        """The resource; a graph that reads it relies on the variable's being stored once."""
        variable, index = self._copy
        if index and not tf.executing_eagerly():
            stored_once.assume_equal(variable)
        return self.__dict__["_handle"]

    def _lazy_read(self, op: object) -> Nest:
        inherited: Any = super()
        if stored_once.is_stored_once(self._copy[0]):
            raise ContextError(
                _seen(self),
                "a function of TensorFlow assigns it, not its own method",
                "the method of the copy: copy.assign(value), "
                "copy.scatter_update(tf.IndexedSlices(values, indices))",
            )
        return inherited._lazy_read(op)


def _assigning(base: Any, name: str) -> Fn:
    def assign(self: Any, *args: Any, **kwargs: Any) -> Nest:
        why = _split_for(self)
        if why is None:
            return getattr(base, name)(self, *args, **kwargs)
        every = "to give all replicas one value, assign the variable itself: v.assign(value)"
        if name not in _REPEATABLE:
            raise ContextError(_seen(self), why[0], every + "; else " + why[1])
        warning = "%s, and with it every copy: %s. Instead: %s; else %s"
        warnings.warn(warning % (_seen(self), why[0], every, why[1]), stacklevel=2)
        return getattr(distributed.components(self._copy[0])[0], name)(*args, **kwargs)

    assign.__name__ = name
    assign.__doc__ = getattr(base, name).__doc__
    return assign


def _without_read(name: str) -> property:
    """A property that does not count as a read of the handle."""
    return property(lambda self: getattr(distributed.components(self._copy[0])[0], name))


def _split_for(copy: Any) -> tuple[str, str] | None:
    """Splits the variable of an assigned copy; returns why not, and what to do instead."""
    variable, _ = copy._copy
    if not stored_once.is_stored_once(variable):
        return None
    if is_relied_on(variable):
        return (
            "a graph built earlier uses the variable as one value for all replicas",
            "assign the copy before the first function that uses the variable",
        )
    in_session = not tf.executing_eagerly() and not functions.in_function()
    if in_session and variable._initializer_requested:
        return (
            "the op that initializes it was made earlier, and knows of one value",
            "make the assignment before tf.global_variables_initializer()",
        )
    split(variable)
    return None


def _seen(copy: Any) -> str:
    variable, index = copy._copy
    return "copy %d of variable %r is assigned" % (index, variable.name)
