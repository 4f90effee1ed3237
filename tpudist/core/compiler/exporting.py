"""A traced step as a message that another release of TensorFlow can lower."""

import base64

import tensorflow as tf

from tpudist.core import versions
from tpudist.core.compiler import annotations
from tpudist.core.compiler import graphs
from tpudist.core.compiler import walk
from tpudist.errors import CompileError

#: Version of the message.
FORMAT = 1


def message(step):
    """A traced step as a dict of JSON types.

    Args:
      step: a `tracing.Step`.

    Returns:
      The dict, for :func:`tpudist.core.compiler.importing.step`.

    Raises:
      CompileError: (a RuntimeError) it uses a resource that is no variable.
    """
    graph = step.graph
    return {
        "format": FORMAT, "tensorflow": str(versions.TF),
        "graph": encoded(graph.as_graph_def()),
        "inputs": [_input(*entry) for entry in step.inputs],
        "outputs": [[name, tensor.name] for name, tensor in step.outputs],
        "control": [op.name for op in getattr(graph, "control_outputs", ())],
        "replicas": step.replicas, "partitions": step.partitions,
        "places": places(graph),
        "collectives": list(map(list, annotations.collectives(graph))),
        "shardings": list(map(list, annotations.shardings(step)))}


def encoded(graph_def):
    """A ``GraphDef`` as text."""
    return base64.b64encode(graph_def.SerializeToString()).decode()


def places(graph):
    """{path of an op: "file:line" of the user's code}."""
    found = {}
    for path, op in walk.ops(graph):
        found.setdefault(path, walk.location(graph, path, op))
    return {path: place for path, place in found.items() if place}


def _input(name, held, outer):
    shape, dtype = held.shape, held.dtype
    if dtype == tf.resource:
        shape, dtype = graphs.stored_in(held)
    if shape is None or not shape.is_fully_defined():
        raise CompileError(
            "the step uses %s of shape %s" % (name or held.op.name, shape),
            "a TPU program can use variables and tensors of a known shape only",
            "pass what it gives as an argument, or create the variable with "
            "a shape")
    return {"name": name or held.op.name, "node": held.op.name,
            "variable": held.dtype == tf.resource,
            "argument": outer is None, "dtype": dtype.base_dtype.name,
            "shape": shape.as_list()}
