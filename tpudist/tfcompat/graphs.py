"""Graphs and function graphs: contexts to build them in, questions to them, and changes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import tensorflow as tf
from tensorflow.core.framework import function_pb2
from tensorflow.python import tf2
from tensorflow.python.eager import context, lift_to_graph
from tensorflow.python.framework import function_def_to_graph, ops
from tensorflow.python.ops import (
    control_flow_ops,
    gen_resource_variable_ops,
    resource_variable_ops,
    variable_scope,
)

from tpudist.errors import ContextError
from tpudist.tfcompat import functions, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import (
        DType,
        Fn,
        FunctionGraph,
        Graph,
        Message,
        NodeDef,
        Operation,
        Tensor,
    )


if versions.LEARNING_PHASE_IS_OF_A_GRAPH:
    from tensorflow.python.keras import backend

if versions.RUN_CONVERTS:
    from tensorflow.python.autograph.core import ag_ctx
    from tensorflow.python.autograph.impl import api as autograph

#: Context manager: executes the block eagerly, even in a program that builds graphs.
eager = context.eager_mode

#: Whether the program runs eagerly where no function is traced; 1.x has no public name.
executing_eagerly_outside_functions = ops.executing_eagerly_outside_functions

#: All contexts of :func:`for_xla`. TensorFlow knows by a context's id which functions
#: were traced in it, so they are kept alive: no later context may get the same id.
_entered: list[Any] = []


class _ForXla(control_flow_ops.XLAControlFlowContext):
    """Marks what is traced as compiled by XLA; functions are traced anew."""

    def RequiresUniqueFunctionRetracing(self) -> bool:
        return True


@contextlib.contextmanager
def for_xla() -> Iterator[Any]:
    """Context manager: marks what is traced as compiled by XLA; gradients have fixed sizes."""
    flow = _ForXla()
    _entered.append(flow)
    flow.Enter()
    try:
        yield
    finally:
        flow.Exit()


@contextlib.contextmanager
def first_generation() -> Iterator[Any]:
    """Context manager: TensorFlow's modules, and Keras, behave as for a program of TensorFlow 1."""
    was_on = tf2.enabled()
    tf2.disable()
    try:
        yield
    finally:
        if was_on:
            tf2.enable()


@contextlib.contextmanager
def variables_reused() -> Iterator[Any]:
    """Context manager: in a graph ``tf.get_variable`` finds what it made under the same name."""
    if tf.executing_eagerly():
        yield
        return
    current = tf.compat.v1.get_variable_scope()
    with tf.compat.v1.variable_scope(current, reuse=tf.compat.v1.AUTO_REUSE):
        yield


def is_found_by_name(variable: object) -> bool:
    """Whether ``tf.get_variable`` made a variable, and finds it again."""
    store = variable_scope._get_default_variable_store()._vars
    return any(found is variable for found in store.values())


def count_variable_names(names: Any) -> None:
    """From now on names are counted from `names`; see ``functions.variable_names``."""
    variable_scope.get_variable_scope_store().variable_scopes_count = dict(names)


@contextlib.contextmanager
def collections_kept() -> Iterator[Any]:
    """Context manager: restores the collections of a TF 1 graph afterwards."""
    if tf.executing_eagerly():
        yield
        return
    graph = tf.compat.v1.get_default_graph()
    before = {key: graph.get_collection(key) for key in graph.get_all_collection_keys()}
    try:
        yield
    finally:
        for key in graph.get_all_collection_keys():
            graph.get_collection_ref(key)[:] = before.get(key, [])


@contextlib.contextmanager
def learning_phase_known() -> Iterator[None]:
    """Context manager: the current function graph has the learning phase that the program set.

    Keras of 1.13 keeps the phase for one graph alone. A program may set it in the block too, and
    then for what it has built there as well.
    """
    if not versions.LEARNING_PHASE_IS_OF_A_GRAPH:
        yield
        return
    phases, graph = backend._GRAPH_LEARNING_PHASES, tf.compat.v1.get_default_graph()
    before = _set_by_the_program()
    if before is not None:
        phases[graph] = before
    yield
    phase, built = _set_by_the_program(), phases.get(graph)
    if phase is not None and isinstance(built, tf.Tensor):
        with graph.as_default(), tf.control_dependencies(None):
            built.op._update_input(0, tf.constant(bool(phase)))


def _set_by_the_program() -> int | None:
    with tf.init_scope():
        eager = tf.executing_eagerly()
        key = backend._DUMMY_EAGER_GRAPH if eager else tf.compat.v1.get_default_graph()
    phase = backend._GRAPH_LEARNING_PHASES.get(key)
    return phase if isinstance(phase, int) else None


def converted(fn: Any) -> Fn:
    """`fn` converted by AutoGraph, unless its ``tf.function`` says no or it is in a TF 1 graph."""
    if functions.is_function(fn):
        wanted, fn = fn._autograph, fn.python_function
        if not wanted:
            return functions.do_not_convert(fn)
    if not versions.RUN_CONVERTS or not (tf.executing_eagerly() or functions.in_function()):
        return fn
    return autograph.tf_convert(fn, ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED))


def is_eager(tensor: Tensor) -> bool:
    """Whether `tensor` is eager: it has a value and belongs to no graph."""
    return isinstance(tensor, ops.EagerTensor)


def divided(tensors: Sequence[Tensor], by: str = "Split") -> Tensor | None:
    """The tensor that an op, or an "Unpack", split along axis 0 into exactly `tensors`, or None."""
    op = None if is_eager(tensors[0]) else getattr(tensors[0], "op", None)
    if op is None or op.type != by or len(tensors) != len(op.outputs):
        return None
    axis = op.get_attr("axis") if by == "Unpack" else functions.static_value(op.inputs[0])
    are_all = axis == 0 and all(one is output for one, output in zip(tensors, op.outputs))
    return op.inputs[-1] if are_all else None


def is_initialized(handle: Tensor) -> bool:
    """Whether the variable of an eager resource has a value."""
    return bool(tf.raw_ops.VarIsInitializedOp(resource=handle))


def read(handle: Tensor, dtype: DType) -> Tensor:
    """The value of the variable behind a handle."""
    return gen_resource_variable_ops.read_variable_op(handle, dtype)


def stored_in(handle: Tensor) -> tuple[Any, ...]:
    """(shape, dtype) of a resource's variable; (None, None) if it has no variable."""
    data = (
        resource_variable_ops.get_eager_safe_handle_data
        if versions.HAS_FUNCTION
        else resource_variable_ops.get_resource_handle_data
    )(handle)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return None, None
    stored = data.shape_and_type[0]
    return tf.TensorShape(stored.shape), tf.as_dtype(stored.dtype)


def called(graph: Graph, name: str) -> FunctionGraph | None:
    """The FuncGraph of a function that ops of `graph` call by name; None if it is not known."""
    function = graph._get_function(name)
    traced = getattr(function, "graph", None)
    if traced is not None or function is None:
        return traced
    with graph.as_default():  # in which the functions that it calls are looked up
        return function_def_to_graph.function_def_to_graph(_definition(function))


def graphs_called_by(op: Operation) -> list[Any]:
    """The FuncGraph of each function that `op` calls; None for one that is not known."""
    return [called(op.graph, function.name) for function in called_by(op.node_def)]


def definition(graph: Graph, name: str) -> Message | None:
    """The ``FunctionDef`` of a function that ops of `graph` call by name; None if not known."""
    function = graph._get_function(name)
    return None if function is None else _definition(function)


#: Ops that are loops and branches, whose bodies are functions.
LOOPS = ("While", "StatelessWhile")
BRANCHES = ("Case", "If", "StatelessCase", "StatelessIf")

#: Ops that ask a resource for its value, and change nothing.
READS: tuple[str, ...] = ("ReadVariableOp", "ResourceGather", "VariableShape")
READS += ("LookupTableFindV2", "LookupTableSizeV2")


def only_reads(op: Operation) -> bool:
    """Whether `op`, and what it calls, has no effect and draws no numbers."""
    if op.type in READS or not functions.is_stateful(op):
        return True
    bodies = graphs_called_by(op)
    return bool(bodies) and all(
        graph is not None and all(only_reads(inner) for inner in graph.get_operations())
        for graph in bodies
    )


def lift(tensor: Tensor) -> Tensor:
    """A copy, in the current context, of a tensor of no input, and of no variable that changed."""
    try:
        if not tf.executing_eagerly():
            return _lifted(tensor, ops.get_default_graph())
        graph = functions.FuncGraph("lifted")
        graph.outputs = [_lifted(tensor, graph)]
        graph.inputs = [held for _, held in functions.captures(graph)]
        outer = [external for external, _ in functions.captures(graph)]
        return functions.call_flat(functions.make(graph, noinline=False), outer)[0]
    except lift_to_graph.UnliftableError as error:
        raise lift_refusal("an argument or a result of the replica function") from error


def lift_refusal(source: object) -> ContextError:
    """The error of a variable that starts from `source`."""
    return ContextError(
        "a variable made in a replica function starts from %s" % source,
        "it is made outside of the function, once for all replicas",
        "make it in strategy.scope(), and assign it in the replica function",
    )


def _lifted(tensor: Tensor, graph: Graph) -> Tensor:
    if not versions.TRACE_ONCE:
        wanted = [tensor] if versions.HAS_FUNCTION else tensor
        return lift_to_graph.lift_to_graph(wanted, graph)[tensor]
    return lift_to_graph.lift_to_graph(
        [tensor], graph, sources=variables_read(tensor), handle_captures=True
    )[tensor]


def variables_read(tensor: Any) -> list[Tensor]:
    """The placeholders of what the function of `tensor` captured eagerly, and `tensor` reads."""
    held = {
        id(inner): inner
        for outer, inner in functions.captures(tensor.graph)
        if isinstance(outer, ops.EagerTensor)
    }
    reads, seen, pending = [], set(), [tensor.op]
    while pending:
        op = pending.pop()
        if op not in seen:
            seen.add(op)
            pending += [each.op for each in op.inputs]
            reads += [held[id(each)] for each in op.outputs if id(each) in held]
    if not all(only_reads(op) for each in reads for op in each.consumers()):
        raise lift_refusal("a variable that it has changed before")
    return reads


def is_same_op(one: Operation, other: Operation) -> bool:
    """Whether two ops without an effect give the same for the same inputs."""
    if one.type != other.type or one.type == "Placeholder" or not only_reads(one):
        return False
    return len(one.inputs) == len(other.inputs) and _same_attributes(
        one.graph, one.node_def, other.node_def
    )


def _same_attributes(graph: Graph, one: NodeDef, other: NodeDef) -> bool:
    names = {name for name in set(one.attr) | set(other.attr) if not name.startswith("_")}
    calls = [list(called_by(node)) for node in (one, other)]
    return (
        len(calls[0]) == len(calls[1])
        and all(
            _written(one.attr[name]) == _written(other.attr[name])
            for name in names
            if not _functions_in(one.attr[name])
        )
        and all(_same_body(graph, left.name, right.name) for left, right in zip(*calls))
    )


def _written(value: Any) -> bytes:
    return value.SerializeToString(deterministic=True)  # as bytes, in which NaN equals NaN


def _same_body(graph: Graph, one: str, other: str) -> bool:
    """Whether two functions, traced one after the other, are the same."""
    if one == other:
        return True
    known = [called(graph, name) for name in (one, other)]
    bodies = [body for body in known if body is not None]
    if len(bodies) < len(known):
        return False
    ops = [body.get_operations() for body in bodies]
    places = [_places(body) for body in bodies]
    ends = [[place[id(t)] for t in body.outputs] for place, body in zip(places, bodies)]
    return (
        ends[0] == ends[1]
        and len(ops[0]) == len(ops[1])
        and all(
            a.type == b.type
            and [places[0][id(t)] for t in a.inputs] == [places[1][id(t)] for t in b.inputs]
            and _same_attributes(graph, a.node_def, b.node_def)
            for a, b in zip(*ops)
        )
    )


def _places(graph: Graph) -> dict[Any, Any]:
    """{id of a tensor of `graph`: (number of its op, of the output)}."""
    return {
        id(tensor): (i, tensor.value_index)
        for i, op in enumerate(graph.get_operations())
        for tensor in op.outputs
    }


def called_by(node: NodeDef) -> Iterator[Any]:
    """The ``NameAttrList`` of each function that a ``NodeDef`` calls."""
    for name in sorted(node.attr):
        yield from _functions_in(node.attr[name])


def _functions_in(value: Any) -> Sequence[Any]:
    return [value.func] if value.HasField("func") else value.list.func


def add_function(graph: Graph, definition: object) -> str:
    """Makes a ``FunctionDef`` a function that ops of `graph` call by the name that is returned."""
    with graph.as_default():
        made = functions.make(function_def_to_graph.function_def_to_graph(definition), False)
    made.add_to_graph(graph)
    return made.name


def _definition(function: Any) -> Message:
    """The ``FunctionDef`` of a function that a graph knows."""
    if hasattr(function, "function_def"):
        return function.function_def
    return function.definition


def stack() -> list[tuple[str, int]]:
    """[(file, line)] of the calls that lead here, outermost first; what AutoGraph wrote is
    told as the lines it was written from."""
    with tf.Graph().as_default():
        return frames(tf.no_op())


def frames(op: Operation) -> list[Any]:
    """[(file, line)] of the calls that made an op, outermost first; [] of the runtime's."""
    return [
        (frame.filename, frame.lineno) if hasattr(frame, "filename") else tuple(frame[:2])
        for frame in getattr(op, "traceback", None) or ()
    ]


def callers(op: Operation) -> list[str]:
    """The names of the Python functions whose calls made an op, outermost first."""
    return [
        frame.name if hasattr(frame, "name") else frame[2]
        for frame in getattr(op, "traceback", None) or ()
    ]


def is_made_in(op: Operation, file: str) -> bool:
    """Whether code of a file, whose path ends so, made an op, itself or by what it called."""
    return any(path.endswith(file) for path, _ in frames(op))


def watched(graph: Graph) -> list[Any]:
    """The variables that a FuncGraph has read, in no order."""
    return list(getattr(graph, "_watched_variables", ()))


# Changes to graphs that are traced, and to copies of the functions that they call.


@contextlib.contextmanager
def beside(op: Operation) -> Iterator[None]:
    """Adds ops to the graph of `op`, on its device, in its loop or branch of TensorFlow 1."""
    graph: Any = op.graph
    with graph.as_default(), graph.device(None), graph.device(op.device):
        with tf.control_dependencies(None):  # the end of this block restores the loop or branch
            graph._set_control_flow_context(op._get_control_flow_context())
            yield


class FunctionCopies:
    """Copies of functions that `source` knows, for ops of `target` to call, each made once.

    A subclass says in :meth:`change` what differs; a function without a difference is kept.
    """

    def __init__(self, source: Any, target: Any) -> None:
        self._source = source
        self._target = target
        self._names: dict[str, str] = {}

    def change(self, definition: Any) -> None:
        """Changes a copy of a ``FunctionDef``, whose nodes call copies already."""
        raise NotImplementedError

    def call(self, node: NodeDef) -> None:
        """Changes the functions that a ``NodeDef`` calls to their copies."""
        for function in called_by(node):
            if function.name not in self._names:
                self._names[function.name] = function.name  # if it calls itself
                self._names[function.name] = self._copy(function.name)
            function.name = self._names[function.name]

    def call_from(self, op: Operation) -> None:
        """Makes `op`, of a graph that has not run, call the copies of its functions."""
        node, before = op.node_def, op.node_def.attr
        self.call(node)
        for name, value in node.attr.items():
            if value != before[name]:
                op._set_attr(name, value)

    def _copy(self, name: str) -> str:
        original = definition(self._source, name)
        if original is None:
            return name
        made = function_pb2.FunctionDef()
        made.CopyFrom(original)
        for node in made.node_def:
            self.call(node)
        self.change(made)
        return name if made == original else add_function(self._target, made)
