"""Explains why a step cannot be lowered, with the user's lines.

What a TPU refuses is the table of :mod:`tpudist.virtual.tpu_check`, by which the virtual TPU
warns. One error names all of it, also what TensorFlow raises while it traces or lowers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Sequence

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tools.compile.lowering import graph_ops
from tpudist.virtual.tpu_check import causes
from tpudist.virtual.trace import dependencies

if TYPE_CHECKING:
    from tpudist.tools.compile.lowering.tracing import Step

#: {part of TensorFlow's message: what to type instead}.
_HINTS = {
    "ninitialized": "initialise the variables first: build the model",
    "compile-time constant": "the number itself, as Python's number; or a "
    "shape that is known while tracing",
}
#: A node in TensorFlow's messages.
_NODE = re.compile(r"\{\{node ([^}]+)\}\}|node `([^`]+)`")

#: What AutoGraph puts before the name of a function.
_CONVERTED = re.compile(r"\S*inner_factory\S*tf__")

_OTHERWISE = "write that line with shapes that are known while tracing"


def refuse_unsupported(graph: tf.Graph) -> None:
    """Refuses a step with ops that a TPU does not have, in functions too, each with its line."""
    found = causes.without_host(graph, graph.outputs)
    if not all(each.is_of_value for each in found):
        raise _error(
            "%d line(s) of the step cannot be compiled for a TPU:\n  %s"
            % (len(found), "\n  ".join(map(str, found))),
            "a TPU runs what XLA compiles; what its host would do is not compiled",
            "what each line says",
            found,
        )


def tracing_error(graph: tf.Graph, error: Exception) -> CompileError:
    """Returns the error of a step that raised while it was traced, with what a TPU refuses."""
    results = [tensor for op in graph.get_operations() for tensor in op.outputs]
    found = causes.without_host(graph, results)
    lines = list(map(str, found))
    place = graph_ops.error_line(error)
    message = (_CONVERTED.sub("", str(error)).strip() or "no message").splitlines()[-1].strip()
    if not message.startswith(type(error).__name__):
        message = "%s: %s" % (type(error).__name__, message)
    lines.append("%s%s" % (place + ": " if place else "", message))
    instead = "a step that runs in a tf.function"
    if len(lines) > 1:
        instead = "what the first line says"
    elif isinstance(error, (TypeError, ValueError, tf.errors.InvalidArgumentError)):
        instead = "args and kwargs of compile_step that one replica takes"
    return _error(
        "the step stopped while it was traced" + "".join("\n  " + line for line in lines),
        "what is not traced cannot be compiled",
        instead,
        [*found, causes.Cause(place or "?", (), message, instead)],
    )


def lowering_error(step: Step, error: Exception) -> CompileError:
    """Returns the error of what TensorFlow raised while it lowered a step, with lines."""
    graph, message = step.graph, str(getattr(error, "message", error)).strip()
    instead = next((hint for part, hint in _HINTS.items() if part in message), _OTHERWISE)
    if "compile-time constant" in message:
        found = causes.without_host(graph, graph.outputs)
        if found:
            return _error(
                "the compiler needs values that only the run knows:\n  %s"
                % "\n  ".join(map(str, found)),
                "a size, an axis or an index into a shape is part of a TPU program",
                instead,
                found,
            )
    place, said = _line_of_node(graph, message), message.split("\n")[0]
    return _error(
        "%s%s" % (place + ": " if place else "", said),
        "TensorFlow could not lower the step to HLO",
        instead,
        [causes.Cause(place or "?", (), said, instead)],
    )


def _error(seen: str, why: str, instead: str, found: Sequence[causes.Cause]) -> CompileError:
    error = CompileError(seen, why, instead)
    error.causes = tuple(found)
    return error


def _line_of_node(graph: tf.Graph, message: str) -> str:
    """Returns "file:line" of the node that a message names, of a loop by its last words; or ""."""
    nodes = ["/" + each for pair in _NODE.findall(message) for each in pair if each]
    ops = list(dependencies.all_ops(graph))
    found = (
        graph_ops.location(op)
        for name, op in [*ops, *((op.name, op) for _, op in ops)]
        if any(each.endswith("/" + name) for each in nodes)
    )
    return next(filter(None, found), "")
