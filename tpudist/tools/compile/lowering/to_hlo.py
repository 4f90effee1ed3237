"""Lowers a traced step to HLO.

TensorFlow lowers a function that it can call, so each captured variable needs an eager
one. An initialized eager variable is used itself; others have a stand-in, whose value does
not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import distributed, functions, graphs, versions
from tpudist.tools.compile import report
from tpudist.tools.compile.hlo import messages
from tpudist.tools.compile.hlo.messages import HloModule
from tpudist.tools.compile.lowering import graph_ops, refusals
from tpudist.tools.compile.lowering.tracing import Input, Step
from tpudist.virtual.trace import dependencies
from tpudist.virtual.trace.dependencies import IdentityMap

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Variable


def require() -> None:
    """Refuses a TensorFlow that cannot lower to HLO, or compiles values of arguments in."""
    if not versions.LOWERS_TO_HLO:
        raise CompileError(
            "TensorFlow %s" % versions.TF,
            "it cannot lower a step for shapes alone; 2.12 and newer can",
            "TensorFlow 2.12 or newer, in which tpudist run runs the program unmodified",
        )


def lower(step: Step) -> report.Program:
    """Lowers a traced step, which is not traced again, to a `report.Program`.

    Raises:
      CompileError: XLA cannot compile an op of it.
    """
    refusals.refuse_unsupported(step.graph)
    with graphs.eager():
        parameters, hlo = _lowered(step)
    module = messages.Module.FromString(hlo)
    return report.Program(
        hlo=hlo,
        replicas=step.replicas,
        partitions=step.partitions,
        parameters=tuple(parameters),
        collectives=graph_ops.collectives(step.graph),
        locations=_locations(step.graph, module),
        tensorflow=str(versions.TF),
    )


def _lowered(step: Step) -> tuple[list[report.Argument], bytes]:
    """Returns (the parameters, the serialized HLO module)."""
    function = functions.make(step.graph, noinline=False)
    arguments = [each for each in step.inputs if each.placeholder.dtype != tf.resource]
    handles = IdentityMap(
        (each.placeholder, _variable_handle(each))
        for each in step.inputs
        if each.placeholder.dtype == tf.resource
    )
    parameters = [
        report.Argument(
            name or "captured_%d" % i,
            report.ARGUMENT if outer is None else report.CAPTURE,
            placeholder.dtype.name,
            tuple(placeholder.shape.as_list()),
        )
        for i, (name, placeholder, outer) in enumerate(arguments)
    ]

    @tf.function(jit_compile=True, autograph=False)  # type: ignore[untyped-decorator]
    def call(*tensors: tf.Tensor) -> list[Any]:
        inputs = IdentityMap(zip((each.placeholder for each in arguments), tensors))
        inputs.update(
            (each.placeholder, handles[each.placeholder].tensor)
            for each in step.inputs
            if each.placeholder in handles
        )
        results = functions.call_flat(function, [inputs[each] for each in step.graph.inputs])
        return list(results or ())

    specs = [tf.TensorSpec(each.placeholder.shape, each.placeholder.dtype) for each in arguments]
    try:
        if not specs:  # raises where lowering without specs would fold values
            call.experimental_get_compiler_ir(tf.TensorSpec([]))(stage="hlo_serialized")
        hlo = call.experimental_get_compiler_ir(*specs)(stage="hlo_serialized")
    except (tf.errors.OpError, ValueError, TypeError) as error:
        raise refusals.lowering_error(step, error) from error
    order = functions.captures(call.get_concrete_function(*specs).graph)
    by_tensor = IdentityMap((handle.tensor, handle) for handle in handles.values())
    return parameters + [by_tensor[outer].parameter for outer, _ in order], hlo


def _locations(graph: tf.Graph, module: HloModule) -> dict[str, str]:
    """Returns {op_name of the module: "file:line"}, of the op that the name ends with.

    In the body of a loop it ends with the op's own name, without the loop's.
    """
    ops = list(reversed(list(dependencies.all_ops(graph))))
    known = {**{op.name: op for _, op in ops}, **dict(ops)}
    names = {
        instruction.metadata.op_name
        for computation in module.computations
        for instruction in computation.instructions
    }
    found = {}
    for whole in sorted(names):
        name = whole
        while name and name not in known:
            name = name.partition("/")[2]
        line = graph_ops.location(known[name]) if name else ""
        if line:
            found[whole] = line
    return found


class _Handle(NamedTuple):
    """The variable of an input: its eager resource tensor, the `report.Argument` that it
    is, and the variable that is to be kept alive if it is a stand-in, else None."""

    tensor: tf.Tensor
    parameter: report.Argument
    stand_in: Any


def _variable_handle(captured: Input) -> _Handle:
    """Returns the `_Handle` of a captured variable: its own, or a stand-in's."""
    name, placeholder, outer = captured
    shape, dtype = graphs.stored_in(placeholder)
    if shape is None or not shape.is_fully_defined():
        raise CompileError(
            "the step uses the resource %s of shape %s" % (name or placeholder.name, shape),
            "a TPU program can use variables of a known shape only, and no "
            "iterator, table or other resource of the host",
            "pass what it gives as an argument, or create the variable with a shape",
        )
    parameter = report.Argument(
        name or placeholder.op.name,
        report.VARIABLE,
        dtype.name,
        tuple(shape.as_list()),
        "" if outer is None else graph_ops.creation_line(outer),
    )
    if outer is not None and graphs.is_eager(outer) and graphs.is_initialized(outer):
        return _Handle(outer, parameter, None)
    variable = stand_in_variable(shape, dtype)
    return _Handle(variable.handle, parameter, variable)


def stand_in_variable(shape: tf.TensorShape, dtype: tf.DType) -> Variable:
    """Creates a stand-in, eagerly: uninitialized memory if it is floating-point, else zeros."""
    if dtype.is_floating:
        value = tf.raw_ops.Empty(shape=shape, dtype=dtype, init=False)
    else:
        value = tf.zeros(shape, dtype)
    return distributed.ResourceVariable(value, trainable=False)
