"""Splits variables: each replica gets a copy of its own of one that was stored once.

A variable without aggregation that a replica function assigns is a copy per replica on a TPU.
Here it stays stored once while all replicas assign the same value (:func:`update_once`), and is
split as soon as their values may differ (:func:`update`).
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Iterable

import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, functions, graphs, nests, versions
from tpudist.virtual.trace import function_graphs
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.variables import stored_once

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Fn, Tensor, Variable


#: The beginnings of the types of ops that write to a handle.
_WRITES = (
    "Assign",
    "ResourceApply",
    "ResourceCountUpTo",
    "ResourceScatter",
    "ResourceSparseApply",
    "ResourceStridedSliceAssign",
    *("RngReadAndSkip", "RngSkip"),  # of a tf.random.Generator
    *("StatefulRandomBinomial", "StatefulStandardNormal"),
    *("StatefulTruncatedNormal", "StatefulUniform"),
)

#: Ops that pass a handle on.
_FORWARDING = ("Enter", "Identity", "Switch")


def is_relied_on(variable: Variable) -> bool:
    """Whether a graph built earlier relies on a variable's being stored once."""
    return variable._assumed_equal not in (False, variable._own_strategy.extended.replicas)


def split(variable: Variable) -> None:
    """Gives every replica its own copy of a variable that was stored once."""
    check(variable)
    extended = variable._own_strategy.extended
    first = distributed.components(variable)[0]
    count = len(distributed.components(variable))
    traced = extended.replicas.ops() if extended.replicas else []
    with function_graphs.outside({}), extended.place():
        make = copy_makers().get(first)
        rest = [make(i) for i in range(1, count)] if make else _copies_of(first, count)
    distributed.replace_components(variable, (first,) + tuple(rest))
    _update_copies(variable)
    for copy in rest:
        container = weakref.ref(variable) if versions.CONTAINERS_ARE_WEAK else variable
        copy._distributed_container = container
        handle: Any = copy.handle
        handle._distributed_container = container
    if traced:
        extended.replicas.use_own_handles(
            traced, [copy.handle for copy in distributed.components(variable)]
        )


def _update_copies(variable: Any) -> None:
    """Lets the copies that code holds of a variable that was split have values of their own."""
    copies = distributed.components(variable)
    for i, copy in variable._copies.items():
        object.__setattr__(copy, "__dict__", copies[i].__dict__)


def check(variable: Variable) -> None:
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


def _copies_of(variable: Variable, count: int) -> list[Variable]:
    """Variables for the replicas but the first, with the current value of `variable`."""
    with tf.init_scope():
        if tf.executing_eagerly():
            return _eager_copies(variable, count, variable.read_value())
        copies = [
            _copy(
                variable, tf.identity(variable.initial_value), distributed.replica_name(variable, i)
            )
            for i in range(1, count)
        ]
        _remove_from_collections(copies)
    return copies


def _eager_copies(variable: Variable, count: int, value: object) -> list[Variable]:
    """Makes copies under one name: TensorFlow keeps a kernel for each name of a handle."""
    name = variable.name.split(":")[0] + "/"
    copies = [_copy(variable, value, name) for _ in range(1, count)]
    for i, copy in enumerate(copies, 1):
        distributed.rename(copy, distributed.replica_name(variable, i)[:-1] + ":0")
    return copies


def _copy(variable: Variable, value: object, name: str) -> Variable:
    return distributed.ResourceVariable(value, trainable=variable.trainable, name=name)


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


def _remove_from_collections(copies: Any) -> None:
    """Removes `copies` from the graph's collections, which have their container."""
    graph = tf.compat.v1.get_default_graph()
    for key in (
        tf.compat.v1.GraphKeys.GLOBAL_VARIABLES,
        tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES,
    ):
        collection = graph.get_collection_ref(key)
        collection[:] = [one for one in collection if not any(one is copy for copy in copies)]


# Ops that write a variable by its handle, not by a method.


def split_written(ops: Iterable[Any]) -> None:
    """Splits the variables stored once that `ops`, of replicas, write by their handles.

    ``tf.raw_ops``, ``training_ops`` and Keras' optimizers of 1.13 do so, not by a method. Each
    replica then writes its own copy.
    """
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
