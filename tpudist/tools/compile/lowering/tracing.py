"""Traces one replica's step into a function graph."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np
import tensorflow as tf

from tpudist.errors import CompileError, TpudistError
from tpudist.tfcompat import distributed, functions, graphs, nests
from tpudist.tools.compile.lowering import refusals, symbolic_replicas
from tpudist.virtual.trace import dependencies, function_graphs
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.variables import stored_once

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest, Tensor


class Input(NamedTuple):
    """An input of a traced step."""

    name: str  # of the argument or variable, "" if unknown
    placeholder: tf.Tensor  # the tensor in the step's graph
    outer: tf.Tensor | None  # the tensor that the trace captured; None for an argument


class Step(NamedTuple):
    """A step as its trace has it: a graph, with what goes in and comes out."""

    graph: tf.Graph  # a finished FuncGraph
    inputs: list[Input]
    replicas: int  # how many run it
    partitions: int  # logical devices of each


class _StepTrace(function_graphs.LiftingTrace):
    """The trace of a step, which makes the values that it hands out outputs of the program."""

    def __init__(self) -> None:
        super().__init__("replica_step")
        self.handed_out: Any = []


def trace(
    strategy: Any,
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Step:
    """Traces a step once for all replicas of a strategy, as a real TPU does.

    Context: cross-replica, eager or in a graph. `fn` creates variables where a run would create
    them. Arrays, tensors and ``tf.TensorSpec`` among the arguments become parameters of the
    program, per-replica values by their first component; everything else is passed as it is.

    Raises:
      CompileError: an argument has an unknown shape, or `fn` raised.
    """
    converted = graphs.converted(fn)
    trace_ = _StepTrace()
    inputs: list[Input] = []
    with symbolic_replicas.symbolic(
        strategy
    ) as extended, strategy.scope(), graphs.variables_reused():
        with trace_.ordered() as order, graphs.for_xla():
            call = _with_placeholders(fn, args, kwargs or {}, inputs)
            results = _call(extended, converted, *call, trace_.graph)
            outputs = _outputs(results, trace_.handed_out, order)
    graph = trace_.finish(outputs, [each.placeholder for each in inputs])
    by_handle = _variables_by_handle(graph)
    captured = [
        Input(_captured_name(outer, by_handle), placeholder, outer)
        for outer, placeholder in functions.captures(graph)
    ]
    return Step(
        graph, inputs + captured, strategy.num_replicas_in_sync, extended.placement.logical_devices
    )


def _call(extended: Any, fn: Callable[..., Any], args: Any, kwargs: object, graph: tf.Graph) -> Any:
    try:
        return extended.call_for_each_replica(fn, args=args, kwargs=kwargs)
    except TpudistError:
        raise
    except Exception as error:
        raise refusals.tracing_error(graph, error) from error


def _with_placeholders(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], inputs: list[Input]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns the arguments with a placeholder in place of each tensor; adds those to inputs."""

    def replaced(path: str, leaf: object) -> Nest:
        is_variable = isinstance(leaf, tf.Variable) or distributed.is_variable(leaf)
        if distributed.is_distributed(leaf) and not is_variable:
            leaf = distributed.components(leaf)[0]
        is_array = isinstance(leaf, (np.ndarray, np.generic, functions.TensorSpec))
        if is_variable or not (is_array or distributed.is_tensor_like(leaf)):
            return leaf
        return distributed.pack(
            leaf, [_placeholder(path, part, inputs) for part in distributed.flatten(leaf)]
        )

    def all_replaced(name: str, value: object) -> Nest:
        leaves = [
            replaced(name + "/" + path if path else name, leaf)
            for path, leaf in nests.flatten_with_paths(value)
        ]
        return nests.pack_sequence_as(value, leaves)

    return (
        tuple(all_replaced(*pair) for pair in zip(argument_names(fn, args), args)),
        {name: all_replaced(name, kwargs[name]) for name in sorted(kwargs)},
    )


def _placeholder(name: str, value: Any, inputs: list[Input]) -> Tensor:
    if not isinstance(value, functions.TensorSpec) and not nests.is_tensor(value):
        value = np.asarray(value)
    shape = tf.TensorShape(value.shape)
    if not shape.is_fully_defined():
        raise CompileError(
            "argument %s of shape %s" % (name, shape),
            "a TPU program is compiled for one shape",
            "all dimensions of one replica's batch, such as [128,28,28,1]; "
            "drop_remainder=True on the dataset's batch",
        )
    op_name = re.sub(r"[^\w/.]", "_", name, flags=re.ASCII).lstrip("_/")  # as errors show it
    placeholder = tf.compat.v1.placeholder(tf.as_dtype(value.dtype), shape, op_name or None)
    inputs.append(Input(name, placeholder, None))
    return placeholder


def _outputs(results: Any, handed_out: Sequence[tuple[Any, object]], order: Any) -> list[tf.Tensor]:
    """Returns the tensors of each value that the step returned or handed out."""
    outputs = []
    for leaf in nests.flatten([results, [value for value, _ in handed_out]]):
        is_variable = isinstance(leaf, tf.Variable)
        if not (
            is_variable or distributed.is_distributed(leaf) or distributed.is_tensor_like(leaf)
        ):
            continue
        value = distributed.components(leaf)[0]
        value = tf.convert_to_tensor(value) if isinstance(value, tf.Variable) else value
        outputs += [order.mark_as_return(tf.identity(part)) for part in distributed.flatten(value)]
    return outputs


def _variables_by_handle(graph: tf.Graph) -> IdentityMap[Any, Any]:
    """Returns {handle: variable} for the variables of a graph and its functions."""
    all_graphs = IdentityMap.of([graph] + [op.graph for _, op in dependencies.all_ops(graph)])
    return IdentityMap(
        (variable.handle, variable)
        for each in all_graphs
        for variable in list(getattr(each, "variables", ())) + graphs.watched(each)
        if hasattr(variable, "handle")
    )


def _captured_name(outer: tf.Tensor, by_handle: Any) -> str:
    """Returns the name of a captured tensor; of a handle, that of its variable."""
    variable = stored_once.of_handle(outer)
    variable = by_handle.get(outer) if variable is None else variable
    if variable is not None:
        return variable.name.split(":")[0]
    return "" if graphs.is_eager(outer) else outer.op.name


def argument_names(fn: Any, args: Sequence[Any]) -> list[str]:
    """Returns the names of a step's positional arguments."""
    names = ["argument_%d" % i for i in range(len(args))]
    try:
        function = fn.python_function if functions.is_function(fn) else fn
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin
        return names
    for i, parameter in enumerate(parameters[: len(args)]):
        if parameter.kind == parameter.VAR_POSITIONAL:
            return names[:i] + ["%s_%d" % (parameter.name, j) for j in range(len(args) - i)]
        names[i] = parameter.name
    return names
