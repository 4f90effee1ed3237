"""Names the inputs of a step whose values the compiler needs but does not have."""

import collections
import re

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tools.compile.lowering import graph_ops
from tpudist.virtual.identity_map import IdentityMap

#: TensorFlow's words, in every release that lowers to HLO.
_NEEDED = re.compile(r"Input (\d+) to node `([^`]+)` with op \w+ must be a compile-time constant")

#: {op: the inputs that XLA wants as constants}, for the releases that do not name the op.
_WANTED = {
    **dict.fromkeys(("Fill", "Split", "Conv2DBackpropInput", "RandomUniform"), (0,)),
    **dict.fromkeys(("RandomStandardNormal", "TruncatedNormal"), (0,)),
    **dict.fromkeys(("StatelessRandomUniformV2", "StatelessRandomNormalV2"), (0,)),
    **dict.fromkeys(
        ("Reshape", "Tile", "Pad", "PadV2", "MirrorPad", "OneHot", "BroadcastTo"), (1,)
    ),
    **dict.fromkeys(("Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "ArgMax", "ArgMin"), (1,)),
    **dict.fromkeys(("Transpose", "ExpandDims", "Cumsum", "Cumprod", "ReverseV2", "TopKV2"), (1,)),
    **dict.fromkeys(("ResizeBilinear", "ResizeNearestNeighbor", "Conv2DBackpropFilter"), (1,)),
    **dict.fromkeys(("BroadcastTo",), (1,)),
    **dict.fromkeys(("Slice", "SplitV"), (1, 2)),
    **dict.fromkeys(("GatherV2", "LinSpace", "UnsortedSegmentSum"), (2,)),
    **dict.fromkeys(("Range",), (0, 1, 2)),
    **dict.fromkeys(("StridedSlice",), (1, 2, 3)),
    **dict.fromkeys(("ConcatV2",), (-1,)),
}

#: Ops that look at a tensor's shape only.
_OF_SHAPES = ("Shape", "ShapeN", "Size", "Rank")


def refusal(names, location=""):
    """The error of values that the compiler needs.

    Args:
      names: the inputs they belong to, such as ``"n (argument)"``.
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


def explained(step, message):
    """The error for a message of TensorFlow's, None if it is about something else.

    Args:
      step: a `tracing.Step`.
      message: the text.
    """
    told = _NEEDED.search(message)
    if not told:
        return None
    number, name = int(told.group(1)), told.group(2)
    called = dict(graph_ops.ops(step.graph))
    paths = [path for path in called if ("/" + path).endswith("/" + name)]
    paths += [path for path, op in called.items() if ("/" + name).endswith("/" + op.name)]
    if not paths:
        return None
    path = paths[0]
    needed = _sources(step, called, path, called[path].inputs[number])
    location = graph_ops.location(step.graph, path, called[path])
    return refusal(needed or ["what %s computes" % called[path].inputs[number].op.name], location)


def place(step, names):
    """The line of the op that needs the values of some inputs, "" if it is not found.

    Args:
      step: a `tracing.Step`.
      names: of the inputs, as of :func:`refusal`.
    """
    called = dict(graph_ops.ops(step.graph))
    for path, op in called.items():
        for number in _WANTED.get(op.type, ()):
            if set(_sources(step, called, path, op.inputs[number])) & set(names):
                return graph_ops.location(step.graph, path, op)
    return ""


def _sources(step, called, path, tensor):
    """The step's inputs that a tensor is computed from: ["n (argument)", ...]."""
    inputs = IdentityMap((held, (name, outer)) for name, held, outer in step.inputs)
    found, seen, pending = (
        [],
        collections.defaultdict(IdentityMap),
        [(path[: -len(called[path].name)], tensor)],
    )
    while pending:
        prefix, tensor = pending.pop()
        if tensor in seen[prefix]:
            continue
        seen[prefix][tensor] = True
        if not prefix and tensor in inputs:
            name, outer = inputs[tensor]
            found.append("%s (%s)" % (name or tensor.op.name, _kind(tensor, outer)))
        elif prefix and tensor.op.type == "Placeholder":
            pending += _given(called, prefix, tensor)
        elif tensor.op.type not in _OF_SHAPES:
            pending += [(prefix, each) for each in tensor.op.inputs]
    return sorted(found)


def _given(called, prefix, held):
    """What the op that calls a function gives for one of its placeholders."""
    caller = called[prefix[:-1]]
    before = prefix[: -len(caller.name) - 1]
    inputs = [each.name for each in held.graph.inputs]
    if held.name not in inputs:
        return []
    # A branch's condition, or its index, comes before what the branch is given.
    offset = len(caller.inputs) - len(inputs)
    return [(before, caller.inputs[offset + inputs.index(held.name)])]


def _kind(tensor, outer):
    if tensor.dtype == tf.resource:
        return "variable"
    return "argument" if outer is None else "captured tensor"
