"""Lowers a traced step to HLO.

TensorFlow lowers a function that it can call, so each captured variable needs an eager
one. An initialized eager variable is used itself; others have a stand-in, whose value does
not matter.

Where XLA needs a constant, TensorFlow before 2.12 takes the value that an input has while
the step is lowered, and compiles it into the program. A program that depends on the value
of a stand-in is refused.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import distributed, functions, graphs, versions
from tpudist.tools.compile import program
from tpudist.tools.compile.hlo import messages, normal_form
from tpudist.tools.compile.hlo.messages import HloModule
from tpudist.tools.compile.lowering import graph_ops, refusals
from tpudist.tools.compile.lowering.tracing import Input, Step
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import all_ops


def require() -> None:
    """Refuses TensorFlow 2.4 and older, which cannot lower to HLO."""
    if not versions.LOWERS_TO_HLO:
        raise CompileError(
            "TensorFlow %s" % versions.TF,
            "it cannot give a step's HLO; 2.5 and newer can",
            "TensorFlow 2.5 or newer, in which tpudist run runs the program unmodified",
        )


def lower(step: Step) -> program.Program:
    """Lowers a traced step to a `program.Program`.

    Context: eager or graph; the step is not traced again.

    Raises:
      CompileError: XLA cannot compile an op of it, or this release cannot lower to HLO.
    """
    require()
    refusals.refuse_unsupported(step.graph)
    with graphs.eager():
        parameters, hlo = _lowered(step)
    module = messages.Module.FromString(hlo)
    check_entry(module, parameters, step)
    return program.Program(
        hlo=hlo,
        replicas=step.replicas,
        partitions=step.partitions,
        parameters=tuple(parameters),
        updated=_updated(module),
        outputs=tuple(
            program.Output(name, tensor.dtype.name, graph_ops.shape(tensor))
            for name, tensor in step.outputs
        ),
        collectives=graph_ops.collectives(step.graph),
        locations=_locations(step.graph, module),
        tensorflow=str(versions.TF),
    )


def _lowered(step: Step) -> tuple[list[program.Parameter], bytes]:
    """Returns (the parameters, the serialized HLO module)."""
    function = functions.make(step.graph, noinline=False)
    arguments = [each for each in step.inputs if each.placeholder.dtype != tf.resource]
    handles = IdentityMap(
        (each.placeholder, _variable_handle(each))
        for each in step.inputs
        if each.placeholder.dtype == tf.resource
    )
    parameters = _parameters(arguments)
    if not versions.LOWERS_SPECS:  # it folds values of arguments, but only shapes of variables
        for each, parameter in zip(arguments, parameters):
            handles[each.placeholder] = _stand_in(
                each.placeholder.shape, each.placeholder.dtype, parameter
            )
        arguments, parameters = [], []

    @tf.function(jit_compile=True, autograph=False)  # type: ignore[untyped-decorator]
    def call(*tensors: tf.Tensor) -> list[Any]:
        inputs = IdentityMap(zip((each.placeholder for each in arguments), tensors))
        inputs.update(
            (each.placeholder, _input_tensor(handles[each.placeholder], each.placeholder))
            for each in step.inputs
            if each.placeholder in handles
        )
        results = functions.call_flat(function, [inputs[each] for each in step.graph.inputs])
        return list(results or ())

    specs = [tf.TensorSpec(each.placeholder.shape, each.placeholder.dtype) for each in arguments]
    try:
        if versions.LOWERS_SPECS and not specs:  # raises where lowering without specs would fold
            call.experimental_get_compiler_ir(tf.TensorSpec([]))(stage="hlo_serialized")
        hlo = _lowered_independently(
            step,
            lambda: call.experimental_get_compiler_ir(*specs)(stage="hlo_serialized"),
            handles.values(),
        )
    except (tf.errors.OpError, ValueError, TypeError) as error:
        raise refusals.lowering_error(step, error) from error
    order = functions.captures(call.get_concrete_function(*specs).graph)
    by_tensor = IdentityMap((handle.tensor, handle) for handle in handles.values())
    return parameters + [by_tensor[outer].parameter for outer, _ in order], hlo


def _parameters(arguments: Sequence[Input]) -> list[program.Parameter]:
    return [
        program.Parameter(
            name or "captured_%d" % i,
            program.ARGUMENT if outer is None else program.CAPTURE,
            placeholder.dtype.name,
            tuple(placeholder.shape.as_list()),
        )
        for i, (name, placeholder, outer) in enumerate(arguments)
    ]


def check_entry(
    module: HloModule, parameters: Sequence[program.Parameter], step: Step | None = None
) -> None:
    """Refuses a program whose entry computation lacks parameters of the step.

    A TensorFlow that lowers with stand-in values compiles those in that XLA needs as
    constants, and their parameters are gone. The step gives the line in the error.
    """
    entry = sorted(
        (each.parameter_number, messages.element(each.shape).name, tuple(each.shape.dimensions))
        for each in normal_form.entry(module).instructions
        if each.opcode == "parameter"
    )
    left = [(dtype, shape) for _, dtype, shape in entry]
    if left == [(each.dtype, each.shape) for each in parameters]:
        return
    missing = []
    for each in reversed(parameters):
        if left[-1:] == [(each.dtype, each.shape)]:
            left.pop()
        else:
            missing.append(each)
    like = {(each.dtype, each.shape) for each in missing}
    names = [
        "%s (%s)" % (each.name, each.kind)
        for each in parameters
        if (each.dtype, each.shape) in like
    ]
    raise refusals.needed_value_error(names, refusals.line_of_need(step, names) if step else "")


def _updated(module: HloModule) -> tuple[int, ...]:
    """Returns the indices of updated parameters, in the order of the root tuple."""
    pairs = [
        (list(entry.output_shape_index), entry.parameter_number)
        for entry in module.input_output_alias.entries
    ]
    return tuple(parameter for _, parameter in sorted(pairs))


def _locations(graph: tf.Graph, module: HloModule) -> dict[str, str]:
    """Returns {op_name of the module: "file:line"}."""
    ops: dict[str, tf.Operation] = {}
    path_of_name: dict[str, str] = {}
    for path, op in all_ops.ops(graph):
        ops.setdefault(path, op)
        path_of_name.setdefault(op.name, path)
    names = {
        instruction.metadata.op_name
        for computation in module.computations
        for instruction in computation.instructions
    }
    paths = ((name, _path(name, ops, path_of_name)) for name in sorted(names))
    lines = ((name, path and graph_ops.location(graph, path, ops[path])) for name, path in paths)
    return {name: line for name, line in lines if line}


def _path(name: str, ops: Mapping[str, tf.Operation], path_of_name: Mapping[str, str]) -> str:
    """Returns the path of the op that an HLO op name ends with, "" if there is none.

    In the body of a loop the name ends with the op's own name, without the loop's.
    """
    while name and name not in ops and name not in path_of_name:
        name = name.partition("/")[2]
    return name if name in ops else path_of_name.get(name, "")


class _Handle(NamedTuple):
    """The variable of an input: its eager resource tensor, the `program.Parameter` that it
    is, and the variable if it is a stand-in, else None."""

    tensor: tf.Tensor
    parameter: program.Parameter
    stand_in: Any


def _variable_handle(captured: Input) -> _Handle:
    """Returns the `_Handle` of a captured variable.

    An eager variable stands for itself. A stand-in replaces a variable of a graph,
    which has no value outside of a Session, one that is not initialized, and one whose
    value this TensorFlow would compile into the program.
    """
    name, placeholder, outer = captured
    shape, dtype = graphs.stored_in(placeholder)
    if shape is None or not shape.is_fully_defined():
        raise CompileError(
            "the step uses the resource %s of shape %s" % (name or placeholder.name, shape),
            "a TPU program can use variables of a known shape only, and no "
            "iterator, table or other resource of the host",
            "pass what it gives as an argument, or create the variable with a shape",
        )
    parameter = program.Parameter(
        name or placeholder.op.name,
        program.VARIABLE,
        dtype.name,
        tuple(shape.as_list()),
        "" if outer is None else graph_ops.creation_line(outer),
    )
    has_value = outer is not None and graphs.is_eager(outer) and graphs.is_initialized(outer)
    if has_value and not _may_be_compiled_in(dtype):
        return _Handle(outer, parameter, None)
    return _stand_in(shape, dtype, parameter)


def _stand_in(shape: tf.TensorShape, dtype: tf.DType, parameter: program.Parameter) -> _Handle:
    """Returns the `_Handle` of a new stand-in, which the program has as a parameter."""
    variable = stand_in_variable(shape, dtype)
    return _Handle(variable.handle, parameter, variable)


def _input_tensor(handle: _Handle, placeholder: tf.Tensor) -> tf.Tensor:
    """Returns the tensor that a step gets for a placeholder: the handle, or the value."""
    if placeholder.dtype == tf.resource:
        return handle.tensor
    return tf.raw_ops.ReadVariableOp(resource=handle.tensor, dtype=placeholder.dtype)


def stand_in_variable(shape: tf.TensorShape, dtype: tf.DType) -> tf.Variable:
    """Creates a stand-in: uninitialized memory if it is floating-point, else zeros.

    Context: eager.
    """
    if dtype.is_floating:
        value = tf.raw_ops.Empty(shape=shape, dtype=dtype, init=False)
    else:
        value = tf.zeros(shape, dtype)
    return distributed.ResourceVariable(value, trainable=False)


def _may_be_compiled_in(dtype: tf.DType) -> bool:
    """Whether this TensorFlow may compile a value of a dtype into the program."""
    return not versions.LOWERS_SPECS and (dtype.is_integer or dtype.is_bool)


def _lowered_independently(
    step: Step, lower: Callable[[], bytes], handles: Iterable[_Handle]
) -> bytes:
    """Lowers a step, whose stand-ins are zero; refuses a program that depends on their values."""
    folded = [
        each
        for each in handles
        if each.stand_in is not None and _may_be_compiled_in(each.stand_in.dtype)
    ]
    if not folded:
        return lower()
    try:
        hlo = lower()
    except (tf.errors.OpError, ValueError) as error:
        _refuse(step, [each for each in folded if _lowered_with_ones(lower, [each]) is not None])
        _refuse(step, folded if _lowered_with_ones(lower, folded) is not None else [])
        raise error
    if _differs(_lowered_with_ones(lower, folded), hlo):
        needed = [each for each in folded if _differs(_lowered_with_ones(lower, [each]), hlo)]
        _refuse(step, needed or folded)
    return hlo


def _lowered_with_ones(lower: Callable[[], bytes], handles: Sequence[_Handle]) -> bytes | None:
    """Lowers with some stand-ins being one in place of zero; returns None if it fails."""
    for each in handles:
        each.stand_in.assign(tf.ones_like(each.stand_in))
    try:
        return lower()
    except (tf.errors.OpError, ValueError):
        return None
    finally:
        for each in handles:
            each.stand_in.assign(tf.zeros_like(each.stand_in))


def _differs(hlo: bytes | None, other: bytes) -> bool:
    if hlo is None:
        return True
    return normal_form.normalized(hlo, 1, 1) != normal_form.normalized(other, 1, 1)


def _refuse(step: Step, needed: Sequence[_Handle]) -> None:
    names = ["%s (%s)" % each.parameter[:2] for each in needed]
    if names:
        raise refusals.needed_value_error(names, refusals.line_of_need(step, names))
