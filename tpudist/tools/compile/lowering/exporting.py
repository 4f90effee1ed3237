"""A traced step as a message that another release of TensorFlow can lower."""

import base64

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import graphs, versions
from tpudist.tools.compile.lowering import annotations, graph_ops

#: Version of the message.
FORMAT = 1


def message(step):
    """A traced step as a dict of JSON types.

    Args:
      step: a `tracing.Step`.

    Returns:
      The dict, for :func:`tpudist.tools.compile.lowering.importing.step`.

    Raises:
      CompileError: (a RuntimeError) it uses a resource that is no variable.
    """
    graph = step.graph
    return written(
        step,
        graph.as_graph_def(),
        [_input(*entry) for entry in step.inputs],
        [op.name for op in getattr(graph, "control_outputs", ())],
    )


def written(step, definition, inputs, control, among=None):
    """The message of a step in a graph that may have more than the step.

    Args:
      step: a `tracing.Step`; its graph may hold other ops too.
      definition: the ``GraphDef`` of the step alone.
      inputs: its inputs, as :func:`entry` makes them.
      control: names of the ops that run even if no output needs them.
      among: the ops of the step; None for all.
    """
    return {
        "format": FORMAT,
        "tensorflow": str(versions.TF),
        "graph": base64.b64encode(definition.SerializeToString()).decode(),
        "inputs": inputs,
        "control": control,
        "outputs": [[name, tensor.name] for name, tensor in step.outputs],
        "replicas": step.replicas,
        "partitions": step.partitions,
        "places": _places(step.graph, among),
        "collectives": list(map(list, annotations.collectives(step.graph, among))),
        "shardings": list(map(list, annotations.shardings(step, among))),
    }


def _places(graph, among):
    """{path of an op: "file:line" of the user's code}."""
    found = {}
    for path, op in graph_ops.ops(graph, among):
        found.setdefault(path, graph_ops.location(graph, path, op))
    return {path: place for path, place in found.items() if place}


def entry(name, held, argument, shape, dtype, location=""):
    """One input of a message.

    Args:
      name: the name of the argument or variable, "" if unknown.
      held: the tensor in the graph that stands for it.
      argument: whether it is an argument of the step.
      shape, dtype: of the tensor, or of the variable's value.
      location: "file:line" that made a variable.

    Raises:
      CompileError: (a RuntimeError) the shape is not known.
    """
    name = name or held.op.name
    if shape is None or not shape.is_fully_defined():
        raise CompileError(
            "the step uses %s of shape %s" % (name, shape),
            "a TPU program can use variables and tensors of a known shape only",
            "pass what it gives as an argument, or create the variable with a shape",
        )
    return {
        "name": name,
        "tensor": held.name,
        "argument": argument,
        "variable": held.dtype == tf.resource,
        "dtype": dtype.base_dtype.name,
        "shape": shape.as_list(),
        "location": location,
    }


def _input(name, held, outer):
    shape, dtype = held.shape, held.dtype
    if dtype == tf.resource:
        shape, dtype = graphs.stored_in(held)
    made_at = graph_ops.creation(outer) if held.dtype == tf.resource else ""
    return entry(name, held, outer is None, shape, dtype, made_at)
