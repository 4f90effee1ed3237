"""Names all ops that XLA cannot compile at once, with the user's lines.

A CPU build of TensorFlow knows only XLA's kernels for the CPU; those for the TPU
are almost the same, and the TPU compiler has the last word.
"""

import collections
import functools
import re

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import graphs, versions
from tpudist.tools.compile.lowering import graph_ops, needed_values

_DEVICE = "XLA_CPU_JIT"

#: Ops that lowering handles without a kernel.
_KNOWN = ("NoOp", "Placeholder", "Const", "_Arg", "_Retval")

_NO_PYTHON = "a TPU calls no Python: move it to the input pipeline, or write it with TensorFlow ops"
_OUTSIDE = "do it with what the step returns, outside of it"
_NO_STRINGS = "a TPU has no strings: make it numbers in the input pipeline"

#: What to do, for the ops that people meet.
_INSTEAD = {
    "PyFunc": _NO_PYTHON,
    "EagerPyFunc": _NO_PYTHON,
    "PyFuncStateless": _NO_PYTHON,
    "Print": _OUTSIDE,
    "PrintV2": _OUTSIDE,
    "Timestamp": _OUTSIDE,
    "WriteSummary": _OUTSIDE,
    "WriteScalarSummary": _OUTSIDE,
    "WriteHistogramSummary": _OUTSIDE,
    "WriteImageSummary": _OUTSIDE,
    "StringFormat": _NO_STRINGS,
    "AsString": _NO_STRINGS,
    "StringJoin": _NO_STRINGS,
    "StringToNumber": _NO_STRINGS,
    "StringToHashBucketFast": _NO_STRINGS,
    "DecodeJpeg": _NO_STRINGS,
    "IteratorGetNext": "pass the batch to the step as an argument",
    "LookupTableFindV2": "look it up in the input pipeline",
    "CropAndResize": "tf.image.resize of slices, or in the input pipeline",
    "SparseTensorDenseMatMul": "tf.sparse.to_dense first, or tf.gather and a sum",
}
_OTHERWISE = "do it outside of the step, or with other ops"


def refuse(graph):
    """Refuses a step with ops that XLA cannot compile.

    Args:
      graph: the FuncGraph of the step; functions, branches and loops in it
        are searched too.

    Raises:
      CompileError: (a RuntimeError) there are some; the error names each, with
        the line of the user's code and what to do about it.
    """
    lines = _lines(graph)
    if lines:
        raise CompileError(
            "%d line(s) of the step cannot be compiled for a TPU:\n  %s"
            % (len(lines), "\n  ".join(lines)),
            "a TPU runs what XLA compiles",
            "what each line says",
        )


def _lines(graph):
    """A line of text for each line of code with ops that XLA cannot compile."""
    found = collections.OrderedDict()
    for path, op in graph_ops.ops(graph):
        why = _why_not(op)
        if why:
            kinds = found.setdefault((graph_ops.location(graph, path, op) or path, why), [])
            kinds += [op.type] if op.type not in kinds else []
    return [
        "%s: %s: %s; %s" % (place, ", ".join(kinds), why, _INSTEAD.get(kinds[-1], _OTHERWISE))
        for (place, why), kinds in found.items()
    ]


def stopped(graph, error, call):
    """A `CompileError` for what a step raised while it was traced.

    Args:
      graph: the FuncGraph of the step, as far as it came.
      error: the exception. Ops before it that XLA cannot compile are named
        too: often it is about their results, which have no shape.
      call: a `given_arguments.Call`.

    Returns:
      The error, to be raised.
    """
    if isinstance(error, TypeError) and call.misfit():
        return call.error()
    lines = _lines(graph) if versions.LOWERS_TO_HLO else []
    place = graph_ops.place_of(error)
    said = (str(error).strip() or "no message").splitlines()[-1].strip()
    if not said.startswith(type(error).__name__):
        said = "%s: %s" % (type(error).__name__, said)
    lines.append("%s%s" % (place + ": " if place else "", said))
    instead = "a step that runs in a tf.function"
    if len(lines) > 1:
        instead = "what the first line says"
    elif call.text() and isinstance(error, (TypeError, ValueError, tf.errors.InvalidArgumentError)):
        instead = "arguments of one replica that fit that line; the step got " + call.text()
    return CompileError(
        "the step stopped while it was traced" + "".join("\n  " + line for line in lines),
        "what is not traced cannot be compiled",
        instead,
    )


def explained(step, error):
    """A `CompileError` for what TensorFlow raised while it lowered a step.

    Args:
      step: a `tracing.Step`.
      error: the exception; if it names a node, the error names the node's line.

    Returns:
      The error, to be raised.
    """
    graph, message = step.graph, str(getattr(error, "message", error)).strip()
    needed = needed_values.explained(step, message)
    if needed is not None:
        return needed
    names = re.findall(r"\{\{node ([^}]+)\}\}", message)
    lines = {
        name: graph_ops.location(graph, path, op)
        for path, op in graph_ops.ops(graph)
        for name in names
        if path == name or op.name == name
    }
    places = [line for line in lines.values() if line]
    return CompileError(
        "%s%s" % (places[0] + ": " if places else "", message.split("\n")[0]),
        "TensorFlow could not lower the step to HLO",
        _hint(message, step),
    )


_HINTS = (
    (
        "fixed tensor list size",
        "maximum_iterations for the tf.while_loop, whose gradient a TPU needs a fixed size for",
    ),
    ("ninitialized", "initialise the variables first: build the model"),
)


def _hint(message, step):
    for part, instead in _HINTS:
        if part in message:
            return instead
    instead = "write that line with shapes that are known while tracing"
    if versions.LOWERS_SPECS or not any(held.dtype.is_integer for _, held, _ in step.inputs):
        return instead
    return instead + ", or give the value of an argument that is a size: --args 'n=100'"


def _why_not(op):
    """Why XLA cannot compile an op, "" if it can."""
    if op.type in _KNOWN:
        return ""
    found = _kernels(op.type)
    if not found:
        return "no XLA kernel"
    if not any(_fits(kernel, op) for kernel in found):
        return "no XLA kernel for %s" % ", ".join(
            sorted({tensor.dtype.name for tensor in list(op.inputs) + list(op.outputs)})
        )
    return ""


@functools.lru_cache(maxsize=None)
def _kernels(kind):
    _register_kernels()
    return [kernel for kernel in graphs.kernels_of(kind) if kernel.device_type == _DEVICE]


@functools.lru_cache(maxsize=None)
def _register_kernels():
    """XLA's kernels are registered when the first function is lowered."""
    with graphs.eager():
        tf.function(lambda x: x, jit_compile=True).experimental_get_compiler_ir(tf.zeros([]))(
            stage="hlo"
        )


def _fits(kernel, op):
    return all(_allows(constraint, op) for constraint in kernel.constraint)


def _allows(constraint, op):
    try:
        value = op.get_attr(constraint.name)
    except ValueError:
        return True
    allowed = constraint.allowed_values.list.type
    return all(
        dtype.as_datatype_enum in allowed
        for dtype in (value if isinstance(value, list) else [value])
        if isinstance(dtype, tf.DType)
    )
