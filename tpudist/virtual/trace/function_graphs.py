"""Traces function graphs, and leaves them to create a variable.

A variable outlives the trace in which it is first used, so its creation
leaves the trace (and every trace around it).
"""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np
import tensorflow as tf

from tpudist.errors import PerReplicaError
from tpudist.tfcompat import (
    distributed,
    functions,
    graphs,
    nests,
    placed_graphs,
    random_seeds,
    versions,
)

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Extended, FunctionGraph, Graph, Nest, Operation, Tensor
    from tpudist.virtual.replicas.program import Program


class Trace:
    """A FuncGraph under construction.

    Attributes:
      graph: the FuncGraph.
      outer: the graph it is called from.
      must_run: the stateful ops of the graph, once it is traced.
      regroups: whether TensorFlow regroups the distributed values made here.
      handed_out: a list of the values that replica functions deliver, and their receivers (see
        :func:`tpudist.virtual.replicas.program.deliver`); None if they are delivered at once.
      uniformity: the `Uniformity`; None if the trace does not stand for every replica.
    """

    regroups = True
    handed_out = None
    uniformity: Any = None

    def __init__(self, name: str, outer: Graph | None = None) -> None:
        self.outer = outer or tf.compat.v1.get_default_graph()
        with self.outer.as_default():
            self.graph = random_seeds.CountingGraph(name)
        self.graph._tpudist_trace = self
        self.must_run: list[Operation] = []

    @contextlib.contextmanager
    def ordered(self) -> Iterator[Any]:
        """Traces the block; its stateful ops keep their order and run."""
        with self.graph.as_default():
            with functions.AutomaticControlDependencies() as order:
                yield order
            if versions.HAS_FUNCTION:
                self.must_run = list(order.ops_which_must_run)
                self.must_run += placed_graphs.updates_of_references(self.graph)

    def finish(self, outputs: Iterable[Tensor], inputs: Iterable[Tensor] = ()) -> FunctionGraph:
        """The graph, ready to become a function that takes `inputs`, before what it captures."""
        self.graph.inputs = list(inputs)
        self.graph.inputs += [inner for _, inner in functions.captures(self.graph)]
        self.graph.outputs = list(outputs)
        self.graph.control_outputs = self.must_run
        return self.graph

    @contextlib.contextmanager
    def outside(self, kwargs: dict[str, Any]) -> Iterator[None]:
        """Leaves the traces around the current graph; the initial value is computed outside too."""
        scope = tf.compat.v1.get_default_graph().get_name_scope()
        with self.outer.as_default(), tf.control_dependencies(None):
            with tf.name_scope(scope + "/") if scope else contextlib.nullcontext():
                with outside(kwargs):
                    yield


class LiftingTrace(Trace):
    """A trace whose variables live where no function is being traced."""

    @contextlib.contextmanager
    def outside(self, kwargs: dict[str, Any]) -> Iterator[None]:
        """Leaves all functions; see `tf.init_scope`."""
        with tf.init_scope():
            _lift(kwargs)
            yield


@contextlib.contextmanager
def outside(kwargs: dict[str, Any]) -> Iterator[None]:
    """Leaves the traces around the current graph to create a variable with `kwargs`."""
    trace = current()
    if trace is None or tf.executing_eagerly():  # tf.init_scope has left it
        _lift(kwargs)
        yield
    else:
        names = [name for name in kwargs.get("collections") or () if isinstance(name, str)]
        inner = tf.compat.v1.get_default_graph()
        with trace.outside(kwargs):
            yield
            outer = tf.compat.v1.get_default_graph()
        _copy_collections(names, inner, outer)


def _copy_collections(names: Any, inner: object, outer: Graph) -> None:
    """Copies graph collections that got a variable outside into the traces, where programs look."""
    for name in names:
        source = outer.get_collection_ref(name)
        graph = inner
        while isinstance(graph, functions.FuncGraph) and graph is not outer:
            target = graph.get_collection_ref(name)
            if target is not source:
                target += [item for item in source if not any(item is one for one in target)]
            graph = graph.outer_graph


def current() -> Trace | None:
    """The innermost `Trace` around the current graph, or None."""
    graph = tf.compat.v1.get_default_graph()
    while isinstance(graph, functions.FuncGraph):
        trace: Trace | None = getattr(graph, "_tpudist_trace", None)
        if trace is not None:
            return trace
        graph = graph.outer_graph
    return None


def is_traced(tensor: object) -> bool:
    """Whether `tensor` is one of a `Trace`."""
    return hasattr(getattr(tensor, "graph", None), "_tpudist_trace")


def meets(op: Operation) -> bool:
    """Whether `op` is a branch or loop of a trace in which replicas meet."""
    if op.type not in graphs.LOOPS + graphs.BRANCHES:
        return False
    return any(hasattr(graph, "_tpudist_trace") for graph in graphs.graphs_called_by(op))


def _lift(kwargs: dict[str, Any]) -> None:
    initial: Any = kwargs.get("initial_value")
    graph = None if tf.executing_eagerly() else (tf.compat.v1.get_default_graph())
    if functions.is_traced(initial) and initial.graph is not graph:
        kwargs["initial_value"] = graphs.lift(initial)


# Where replicas meet.

_meetings = threading.local()


@contextlib.contextmanager
def meeting() -> Iterator[None]:
    """Context manager: replicas meet in the block, in a graph that no `Trace` builds."""
    _meetings.depth = getattr(_meetings, "depth", 0) + 1
    try:
        yield
    finally:
        _meetings.depth -= 1


@contextlib.contextmanager
def named(name: str) -> Iterator[None]:
    """Names the ops of the block by a key of `collectives.NAMES`, if replicas meet here."""
    meets = getattr(_meetings, "depth", 0) or getattr(current(), "is_meeting", False)
    with tf.compat.v1.name_scope(name) if meets else contextlib.nullcontext():
        yield


# The arguments of a replica function, which a trace has as placeholders.


def enter(program: Program, leaf: object) -> Any:
    """An argument as the traced function sees it: one new placeholder for a distributed tensor."""
    if not distributed.is_distributed(leaf) or distributed.is_variable(leaf):
        return leaf
    return _stack(program, _components(leaf, program.num_replicas))


def check_lengths(extended: Extended, structure: object) -> None:
    """Refuses distributed values that do not have one component per replica."""
    for leaf in nests.flatten(structure):
        if distributed.is_distributed(leaf) and not distributed.is_variable(leaf):
            _components(leaf, len(extended.worker_devices))


def _components(leaf: object, count: int) -> Any:
    parts = distributed.components(leaf)
    if len(parts) == count:
        return parts
    raise PerReplicaError(
        "a per-replica value of %d components" % len(parts),
        "there are %d replicas" % count,
        "one component per replica, as strategy."
        "experimental_distribute_values_from_function(fn) makes them",
    )


def _stack(program: Program, parts: Any) -> Nest:
    """One placeholder (or composite of them) that stands for all `parts`."""
    if all(part is parts[0] for part in parts) and not nests.is_tensor(parts[0]):
        return parts[0]
    with program.outer.as_default():
        parts = [_convert(part) for part in parts]
    flat = [distributed.flatten(part) for part in parts]
    placeholders = []
    for tensors in zip(*flat):
        shapes = [tensor.shape for tensor in tensors]
        shape = functools.reduce(tf.TensorShape.most_specific_compatible_shape, shapes)
        placeholder = functions.placeholder_like(tensors[0], shape)
        program.arguments.append((placeholder, list(tensors)))
        placeholders.append(placeholder)
    return distributed.pack(parts[0], placeholders)


def own_array(leaf: object) -> Any:
    """Returns `leaf`, as a tensor where it is an array that a replica function made."""
    return tf.constant(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf


def _convert(part: Any) -> Nest:
    if distributed.is_tensor_like(part):
        return part
    if isinstance(part, (tf.Variable, bool, int, float, np.ndarray, np.generic)):
        return tf.convert_to_tensor(part)
    raise PerReplicaError(
        "a per-replica value holds %r" % (part,),
        "replicas run one traced program, so their values must be tensors or numbers",
        "a tensor, or the same Python object for every replica",
    )
