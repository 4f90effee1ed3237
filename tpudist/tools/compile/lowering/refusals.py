"""Explains why a step cannot be lowered, with the user's lines.

A step is refused that has ops which XLA cannot compile; one error names all of them. A CPU
build of TensorFlow has XLA's kernels for the CPU only; those for the TPU are almost the
same, and the TPU compiler decides in the end. Errors that TensorFlow raises while it traces
or lowers are explained too: often a size or an axis is the value of an argument, which the
compiler does not have.
"""

from __future__ import annotations

import collections
import functools
import re
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import graphs
from tpudist.tools.compile.lowering import graph_ops
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.tpu_check import causes, table
from tpudist.virtual.trace import all_ops

if TYPE_CHECKING:
    from tpudist.tools.compile.lowering.tracing import Call, Step

_DEVICE = "XLA_CPU_JIT"

#: Ops that are lowered without a kernel.
_WITHOUT_KERNEL = ("NoOp", "Placeholder", "Const", "_Arg", "_Retval")

_OUTSIDE = "do it with what the step returns, outside of it"
_NO_STRINGS = "a TPU has no strings: make it numbers in the input pipeline"

#: What to do about ops that a TPU's host can do, which this compiler is not asked for.
_INSTEAD = {
    **dict.fromkeys(("Print", "PrintV2", "Timestamp", "WriteSummary"), _OUTSIDE),
    **dict.fromkeys(("WriteScalarSummary", "WriteHistogramSummary", "WriteImageSummary"), _OUTSIDE),
    **dict.fromkeys(("StringFormat", "AsString", "StringJoin", "StringToNumber"), _NO_STRINGS),
    **dict.fromkeys(("StringToHashBucketFast", "DecodeJpeg"), _NO_STRINGS),
}
_OTHERWISE = "do it outside of the step, or with other ops"


def refuse_unsupported(graph: tf.Graph) -> None:
    """Refuses a step with ops that XLA cannot compile, also in functions, branches and loops.

    The error names each, with the line of the user's code and what to do about it.
    """
    lines = _lines(graph)
    if lines:
        lines += causes.of_values(graph)
        raise CompileError(
            "%d line(s) of the step cannot be compiled for a TPU:\n  %s"
            % (len(lines), "\n  ".join(lines)),
            "a TPU runs what XLA compiles",
            "what each line says",
        )


def _lines(graph: tf.Graph) -> list[str]:
    """Returns a line of text for each line of code with ops that XLA cannot compile."""
    unsupported: dict[tuple[str, str], list[str]] = collections.OrderedDict()
    for path, op in all_ops.ops(graph):
        why = _why_unsupported(op)
        if why:
            kinds = unsupported.setdefault((graph_ops.location(graph, path, op) or path, why), [])
            kinds += [op.type] if op.type not in kinds else []
    return [
        "%s: %s: %s; %s" % (place, ", ".join(kinds), why, _instead(kinds[-1]))
        for (place, why), kinds in unsupported.items()
    ]


def _instead(kind: str) -> str:
    told = table.ADVICE.get(kind)
    return _INSTEAD.get(kind) or (told[1] if told else _OTHERWISE)


def tracing_error(graph: tf.Graph, error: Exception, call: Call) -> CompileError:
    """Returns the error for an exception that a step raised while it was traced.

    Ops before it that XLA cannot compile are named too: often the exception is about their
    results, which have no shape. The graph is that of the step, as far as it was traced.
    """
    if isinstance(error, TypeError) and call.mismatch():
        return call.error()
    lines = _lines(graph)
    place = graph_ops.error_line(error)
    message = (str(error).strip() or "no message").splitlines()[-1].strip()
    if not message.startswith(type(error).__name__):
        message = "%s: %s" % (type(error).__name__, message)
    lines.append("%s%s" % (place + ": " if place else "", message))
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


def lowering_error(step: Step, error: Exception) -> CompileError:
    """Returns the error for an exception that TensorFlow raised while it lowered a step.

    If the exception names a node, the error names the node's line.
    """
    graph, message = step.graph, str(getattr(error, "message", error)).strip()
    needed = _error_of_needed_value(step, message)
    if needed is not None:
        return needed
    names = re.findall(r"\{\{node ([^}]+)\}\}", message)
    lines = {
        name: graph_ops.location(graph, path, op)
        for path, op in all_ops.ops(graph)
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


def _hint(message: str, step: Step) -> str:
    for part, instead in _HINTS:
        if part in message:
            return instead
    instead = "write that line with shapes that are known while tracing"
    has_integers = any(each.placeholder.dtype.is_integer for each in step.inputs)
    if not has_integers:
        return instead
    return instead + ", or give the value of an argument that is a size: --args 'n=100'"


def _why_unsupported(op: tf.Operation) -> str:
    """Returns why XLA cannot compile an op, "" if it can."""
    if op.type in _WITHOUT_KERNEL:
        return ""
    kernels = xla_kernels(op.type)
    if not kernels:
        return "no XLA kernel"
    if not any(_fits(kernel, op) for kernel in kernels):
        return "no XLA kernel for %s" % ", ".join(
            sorted({tensor.dtype.name for tensor in list(op.inputs) + list(op.outputs)})
        )
    return ""


@functools.lru_cache(maxsize=None)
def xla_kernels(kind: str) -> list[Any]:
    """Returns XLA's kernels of a type of op in this TensorFlow."""
    register_kernels()
    return [kernel for kernel in graphs.kernels_of(kind) if kernel.device_type == _DEVICE]


@functools.lru_cache(maxsize=None)
def register_kernels() -> None:
    """Makes TensorFlow register XLA's kernels, which it does when it first lowers a function."""
    with graphs.eager():
        tf.function(lambda x: x, jit_compile=True).experimental_get_compiler_ir(tf.zeros([]))(
            stage="hlo"
        )


def _fits(kernel: Any, op: tf.Operation) -> bool:
    return all(_allows(constraint, op) for constraint in kernel.constraint)


def _allows(constraint: Any, op: tf.Operation) -> bool:
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


#: The message for an input without a value, in every release that lowers to HLO.
_NO_CONSTANT = re.compile(
    r"Input (\d+) to node `([^`]+)` with op \w+ must be a compile-time constant"
)

#: {op: the inputs that XLA needs as constants}, for the releases that do not name the op.
_CONSTANT_INPUTS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("Fill", "Split", "Conv2DBackpropInput", "RandomUniform"), (0,)),
    **dict.fromkeys(("RandomStandardNormal", "TruncatedNormal"), (0,)),
    **dict.fromkeys(("StatelessRandomUniformV2", "StatelessRandomNormalV2"), (0,)),
    **dict.fromkeys(
        ("Reshape", "Tile", "Pad", "PadV2", "MirrorPad", "OneHot", "BroadcastTo"), (1,)
    ),
    **dict.fromkeys(("Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "ArgMax", "ArgMin"), (1,)),
    **dict.fromkeys(("Transpose", "ExpandDims", "Cumsum", "Cumprod", "ReverseV2", "TopKV2"), (1,)),
    **dict.fromkeys(("ResizeBilinear", "ResizeNearestNeighbor", "Conv2DBackpropFilter"), (1,)),
    **dict.fromkeys(("Slice", "SplitV"), (1, 2)),
    **dict.fromkeys(("GatherV2", "LinSpace", "UnsortedSegmentSum"), (2,)),
    **dict.fromkeys(("Range",), (0, 1, 2)),
    **dict.fromkeys(("StridedSlice",), (1, 2, 3)),
    **dict.fromkeys(("ConcatV2",), (-1,)),
}

#: Ops that use the shape of their input only.
_SHAPE_OPS = ("Shape", "ShapeN", "Size", "Rank")


def needed_value_error(names: Iterable[str], location: str = "") -> CompileError:
    """Returns the error for inputs whose values the compiler needs but does not have.

    Args:
      names: the inputs, such as ``"n (argument)"``.
      location: "file:line" of the op that needs them, "" if unknown.
    """
    return CompileError(
        "%sthe compiler needs the value of %s"
        % (location and location + ": ", ", or ".join(names)),
        "a size, an axis or an index into a shape is part of a TPU program, which "
        "has no arguments and variables before it runs",
        "the number itself: --args 'n=100', a Python number in Python; or a shape "
        "that is known while tracing",
    )


def _error_of_needed_value(step: Step, message: str) -> CompileError | None:
    """Returns the error for TensorFlow's message about a missing value, None for another one."""
    match = _NO_CONSTANT.search(message)
    if not match:
        return None
    number, name = int(match.group(1)), match.group(2)
    ops = dict(all_ops.ops(step.graph))
    paths = [path for path in ops if ("/" + path).endswith("/" + name)]
    paths += [path for path, op in ops.items() if ("/" + name).endswith("/" + op.name)]
    if not paths:
        return None
    path = paths[0]
    tensor = ops[path].inputs[number]
    needed = _sources(step, ops, path, tensor) or ["what %s computes" % tensor.op.name]
    return needed_value_error(needed, graph_ops.location(step.graph, path, ops[path]))


def line_of_need(step: Step, names: Iterable[str]) -> str:
    """Returns the line of the op that needs the values of some inputs, "" if unknown."""
    ops = dict(all_ops.ops(step.graph))
    for path, op in ops.items():
        for number in _CONSTANT_INPUTS.get(op.type, ()):
            if set(_sources(step, ops, path, op.inputs[number])) & set(names):
                return graph_ops.location(step.graph, path, op)
    return ""


def _sources(
    step: Step, ops: Mapping[str, tf.Operation], path: str, tensor: tf.Tensor
) -> Sequence[str]:
    """Returns the step's inputs that a tensor is computed from: ["n (argument)", ...]."""
    inputs = IdentityMap((each.placeholder, (each.name, each.outer)) for each in step.inputs)
    names: list[str] = []
    seen: dict[str, Any] = collections.defaultdict(IdentityMap)
    pending = [(path[: -len(ops[path].name)], tensor)]
    while pending:
        prefix, tensor = pending.pop()
        if tensor in seen[prefix]:
            continue
        seen[prefix][tensor] = True
        if not prefix and tensor in inputs:
            name, outer = inputs[tensor]
            names.append("%s (%s)" % (name or tensor.op.name, _kind(tensor, outer)))
        elif prefix and tensor.op.type == "Placeholder":
            pending += _passed(ops, prefix, tensor)
        elif tensor.op.type not in _SHAPE_OPS:
            pending += [(prefix, each) for each in tensor.op.inputs]
    return sorted(names)


def _passed(
    ops: Mapping[str, tf.Operation], prefix: str, placeholder: tf.Tensor
) -> list[tuple[str, tf.Tensor]]:
    """Returns (prefix, tensor) that a calling op passes for a placeholder of its function."""
    caller = ops[prefix[:-1]]
    before = prefix[: -len(caller.name) - 1]
    inputs = [each.name for each in placeholder.graph.inputs]
    if placeholder.name not in inputs:
        return []
    # The condition of a branch, or its index, comes before the branch's own inputs.
    offset = len(caller.inputs) - len(inputs)
    return [(before, caller.inputs[offset + inputs.index(placeholder.name)])]


def _kind(tensor: tf.Tensor, outer: tf.Tensor | None) -> str:
    if tensor.dtype == tf.resource:
        return "variable"
    return "argument" if outer is None else "captured tensor"
