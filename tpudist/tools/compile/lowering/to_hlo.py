"""Lowers a traced step to HLO."""

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import functions, graphs, versions
from tpudist.tools.compile import program
from tpudist.tools.compile.hlo import messages, normal_form, shapes
from tpudist.tools.compile.lowering import (
    annotations,
    folded,
    graph_ops,
    handles,
    needed_values,
    unsupported,
)
from tpudist.virtual.identity_map import IdentityMap


def require():
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


def lower(step):
    """The `program.Program` of a traced step.

    Context: eager or graph; the step is not traced again.

    Args:
      step: a `tracing.Step`.

    Raises:
      CompileError: (a RuntimeError) XLA cannot compile an op of it, or this
        release of TensorFlow cannot lower to HLO.
    """
    require()
    unsupported.refuse(step.graph)
    with graphs.eager():
        parameters, text = _lowered(step)
    module = messages.Module.FromString(text)
    check_entry(module, parameters, step)
    return program.Program(
        hlo=text,
        replicas=step.replicas,
        partitions=step.partitions,
        parameters=tuple(parameters),
        updated=_updated(module),
        outputs=tuple(
            program.Output(name, tensor.dtype.name, annotations.shape(tensor))
            for name, tensor in step.outputs
        ),
        collectives=annotations.collectives(step.graph),
        shardings=annotations.shardings(step),
        warnings=(),
        locations=_locations(step.graph, module),
        tensorflow=str(versions.TF),
    )


def _lowered(step):
    """([`program.Parameter`], the HLO module as bytes)."""
    function = functions.make(step.graph, noinline=False)
    arguments = [entry for entry in step.inputs if entry[1].dtype != tf.resource]
    variables = [entry for entry in step.inputs if entry[1].dtype == tf.resource]
    stored = IdentityMap((held, handles.of(name, held, outer)) for name, held, outer in variables)
    parameters = _parameters(arguments)
    if not versions.LOWERS_SPECS:  # it folds arguments; of a variable it takes the shape
        for (_, held, _), parameter in zip(arguments, parameters):
            stored[held] = handles.of_argument(held, parameter)
        arguments, parameters = [], []

    @tf.function(jit_compile=True, autograph=False)
    def call(*tensors):
        given = IdentityMap(zip((held for _, held, _ in arguments), tensors))
        given.update(
            (held, handles.taken(stored[held], held))
            for _, held, _ in step.inputs
            if held in stored
        )
        results = functions.call_flat(function, [given[held] for held in step.graph.inputs])
        return list(results or ())

    specs = [tf.TensorSpec(held.shape, held.dtype) for _, held, _ in arguments]
    try:
        if versions.LOWERS_SPECS and not specs:  # raises where lowering without specs would fold
            call.experimental_get_compiler_ir(tf.TensorSpec([]))(stage="hlo_serialized")
        text = folded.checked(
            step,
            lambda: call.experimental_get_compiler_ir(*specs)(stage="hlo_serialized"),
            stored.values(),
        )
    except (tf.errors.OpError, ValueError, TypeError) as error:
        raise unsupported.explained(step, error) from error
    order = functions.captures(call.get_concrete_function(*specs).graph)
    found = IdentityMap((handle.tensor, handle) for handle in stored.values())
    return parameters + [found[outer].parameter for outer, _ in order], text


def _parameters(arguments):
    return [
        program.Parameter(
            name or "captured_%d" % i,
            program.ARGUMENT if outer is None else program.CAPTURE,
            held.dtype.name,
            tuple(held.shape.as_list()),
        )
        for i, (name, held, outer) in enumerate(arguments)
    ]


def check_entry(module, parameters, step=None):
    """Refuses a program whose entry does not take what the step is given.

    A TensorFlow that lowers with stand-in values folds those that XLA wants as
    constants, and their parameters are gone.

    Args:
      module: a `messages.Module`.
      parameters: `program.Parameter` records, in order.
      step: the `tracing.Step`, for the line that is told; or None.

    Raises:
      CompileError: (a RuntimeError) parameters are missing.
    """
    entry = sorted(
        (each.parameter_number, shapes.element(each.shape).name, tuple(each.shape.dimensions))
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
    raise needed_values.refusal(names, step and needed_values.place(step, names) or "")


def _updated(module):
    """Indices of updated parameters, in the order of the root tuple."""
    pairs = [
        (list(entry.output_shape_index), entry.parameter_number)
        for entry in module.input_output_alias.entries
    ]
    return tuple(parameter for _, parameter in sorted(pairs))


def _locations(graph, module):
    """{op_name of the module: "file:line"}."""
    ops, own = {}, {}
    for path, op in graph_ops.ops(graph):
        ops.setdefault(path, op)
        own.setdefault(op.name, path)
    names = {
        instruction.metadata.op_name
        for computation in module.computations
        for instruction in computation.instructions
    }
    found = ((name, _path(name, ops, own)) for name in sorted(names))
    places = ((name, path and graph_ops.location(graph, path, ops[path])) for name, path in found)
    return {name: place for name, place in places if place}


def _path(name, ops, own):
    """The path of an op in an HLO name, which starts with other names.

    In the body of a loop it is the op's own name, without the loop's.
    """
    while name and name not in ops and name not in own:
        name = name.partition("/")[2]
    return name if name in ops else own.get(name, "")
