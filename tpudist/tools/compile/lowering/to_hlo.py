"""Lowers a traced step to HLO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import functions, graphs, versions
from tpudist.tools.compile import program
from tpudist.tools.compile.hlo import messages, normal_form
from tpudist.tools.compile.lowering import collectives_and_shardings, graph_ops, refusals, stand_ins
from tpudist.virtual.identity_map import IdentityMap

if TYPE_CHECKING:
    from tpudist.tools.compile.hlo.messages import HloModule
    from tpudist.tools.compile.lowering.tracing import Input, Step


def require() -> None:
    """Refuses a release that cannot lower to HLO.

    Raises:
      CompileError: (a RuntimeError) this is TensorFlow 2.4 or older.
    """
    if not versions.LOWERS_TO_HLO:
        raise CompileError(
            "TensorFlow %s" % versions.TF,
            "it cannot give a step's HLO; 2.5 and newer can",
            "--lower-with PYTHON (lower_with= in Python): the Python of an "
            "environment with a newer TensorFlow",
        )


def lower(step: Step) -> program.Program:
    """Lowers a traced step to a `program.Program`.

    Context: eager or graph; the step is not traced again.

    Args:
      step: a `tracing.Step`.

    Raises:
      CompileError: (a RuntimeError) XLA cannot compile an op of it, or this
        release of TensorFlow cannot lower to HLO.
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
            program.Output(name, tensor.dtype.name, collectives_and_shardings.shape(tensor))
            for name, tensor in step.outputs
        ),
        collectives=collectives_and_shardings.collectives(step.graph),
        shardings=collectives_and_shardings.shardings(step),
        warnings=(),
        locations=_locations(step.graph, module),
        tensorflow=str(versions.TF),
    )


def _lowered(step: Step) -> tuple[list[program.Parameter], bytes]:
    """Returns (the parameters, the serialized HLO module)."""
    function = functions.make(step.graph, noinline=False)
    arguments = [each for each in step.inputs if each.placeholder.dtype != tf.resource]
    handles = IdentityMap(
        (each.placeholder, stand_ins.variable_handle(each))
        for each in step.inputs
        if each.placeholder.dtype == tf.resource
    )
    parameters = _parameters(arguments)
    if not versions.LOWERS_SPECS:  # it folds values of arguments, but only shapes of variables
        for each, parameter in zip(arguments, parameters):
            handles[each.placeholder] = stand_ins.argument_handle(each.placeholder, parameter)
        arguments, parameters = [], []

    @tf.function(jit_compile=True, autograph=False)  # type: ignore[untyped-decorator]
    def call(*tensors: tf.Tensor) -> list[Any]:
        inputs = IdentityMap(zip((each.placeholder for each in arguments), tensors))
        inputs.update(
            (each.placeholder, stand_ins.input_tensor(handles[each.placeholder], each.placeholder))
            for each in step.inputs
            if each.placeholder in handles
        )
        results = functions.call_flat(function, [inputs[each] for each in step.graph.inputs])
        return list(results or ())

    specs = [tf.TensorSpec(each.placeholder.shape, each.placeholder.dtype) for each in arguments]
    try:
        if versions.LOWERS_SPECS and not specs:  # raises where lowering without specs would fold
            call.experimental_get_compiler_ir(tf.TensorSpec([]))(stage="hlo_serialized")
        hlo = stand_ins.lowered_independently(
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
    constants, and their parameters are gone.

    Args:
      module: a `messages.Module`.
      parameters: `program.Parameter` records, in order.
      step: the `tracing.Step`, for the line in the error; or None.

    Raises:
      CompileError: (a RuntimeError) parameters are missing.
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
    for path, op in graph_ops.ops(graph):
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
