"""Finds what a TPU would refuse of a traced replica function.

Nothing is reported of what native TPUs do not run on the TPU:

* ops that nothing needs: no result, and no op with an effect. They are pruned.
* what is built in ``tpu.outside_compilation``: the host runs it (tpu/tpu_replication.py).
* assertions of ``tf.test.TestCase`` where the program builds a graph: only in a function they call
  Python (``py_func_if_in_function`` of framework/test_util.py).
* ops of optional values, by which a branch hands its gradient what it needs: for XLA, TensorFlow
  makes zeros instead (``_make_intermediates_match_xla`` of ops/cond_v2.py).
* what waits for the infeed or outfeed of a virtual TPU: a TPU's are ops.
* ops that a TPU drops: ``Assert``, whose XLA kernel does nothing, and those of TensorFlow 1's
  summaries and ``tf.Print`` (``_UNSUPPORTED_OPS`` of tpu_replication.py: a warning, no error).
* from 2.4 on, if the program has set soft device placement, every op without a kernel, ``tf.print``
  and ``tf.summary`` too: the host runs it (``allow_soft_placement`` in tpu/tpu.py).
"""

from __future__ import annotations

import os
import tempfile
import traceback
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions, graphs, random_seeds, versions
from tpudist.virtual import explanations
from tpudist.virtual.tpu_check import table
from tpudist.virtual.trace import dependencies
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.variables import stored_once

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Graph, Operation, Tensor

#: Ops with an effect that a TPU drops.
_DROPPED = frozenset(
    "Assert AudioSummary AudioSummaryV2 HistogramSummary ImageSummary MergeSummary Print "
    "ScalarSummary TensorSummary TensorSummaryV2".split()
)

#: Ops that TensorFlow makes for the gradients of branches, but not for XLA.
_OF_GRADIENTS = frozenset(
    "OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone".split()
)
_NO_CAUSE = _DROPPED | _OF_GRADIENTS

#: Ops whose strings are no cause: where they come from, or go to, is.
_PASS_STRINGS = frozenset("Const Identity IdentityN Placeholder PlaceholderWithDefault".split())

#: Ops whose results XLA knows when it compiles, whatever their inputs are.
_KNOWN = frozenset(
    "Const Shape ShapeN Size Rank VariableShape TensorListLength TensorListElementShape".split()
)

#: Ops of loops and branches: what comes out of them is not looked for.
_FLOW = frozenset("Enter Exit LoopCond Merge NextIteration Switch".split())

#: Ops whose results XLA does not know when it compiles.
_UNKNOWN = frozenset("IteratorGetNext IteratorGetNextSync ReadVariableOp".split())


#: How a reason begins that is about a value, and not about an op.
_OF_VALUE = "a shape or an axis depends on a value"


class Cause(NamedTuple):
    """One reason why a TPU would refuse a replica function.

    Args:
      place: "file:line" of the user's code, "?" if unknown.
      op_types: the types of the ops there, a tuple of str.
      why: why a TPU refuses them.
      instead: what to type instead.
    """

    place: str
    op_types: tuple[str, ...]
    why: str
    instead: str

    @property
    def is_of_value(self) -> bool:
        """Whether a shape or an axis depends on a value; TensorFlow may lower it all the same."""
        return self.why.startswith(_OF_VALUE)

    def __str__(self) -> str:
        return "%s: %s; %s" % (self.place, self.what, self.instead)

    @property
    def what(self) -> str:
        """The ops, and why a TPU refuses them."""
        return ": ".join(filter(None, (", ".join(self.op_types), self.why)))


def of(
    ops: Sequence[Operation], results: Iterable[Tensor], sources: Mapping[int, Any]
) -> list[Cause]:
    """Returns the causes in a trace, in its order; ops of one line are one.

    `results` are tensors that are needed outside of it, and `sources` says by the id of a
    placeholder which tensors it stands for; captured ones are found.
    """
    results = list(results)
    finder = _Finder(sources)
    return _grouped([*finder.find(ops, results), *finder.strings_that_leave(results)])


def without_host(graph: Graph, results: Iterable[Tensor]) -> list[Cause]:
    """Returns the causes in a function graph that XLA compiles whole, with no op left to a host."""
    return _grouped(_Finder({}, host=False).find(graph.get_operations(), results))


def _grouped(found: Iterable[tuple[Operation, str, str]]) -> list[Cause]:
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for op, why, instead in found:
        types = grouped.setdefault((explanations.place(op), why, instead), [])
        types += [op.type] if op.type not in types else []
    return [
        Cause(place, tuple(types), why, instead) for (place, why, instead), types in grouped.items()
    ]


class _Finder:
    """Finds the ops of a trace, and of the functions that it calls, that a TPU refuses."""

    def __init__(self, sources: Mapping[int, Any], host: bool = True) -> None:
        self._table = table.tpu_ops()
        self._sources, self._host = sources, host
        self._seen: set[str] = set()
        self._called: list[Graph] = []
        # In a trace it is False unless the program has set it.
        self._host_helps = (
            host
            and versions.AUTOMATIC_OUTSIDE_COMPILATION
            and tf.config.get_soft_device_placement()
        )

    def find(
        self, ops: Sequence[Operation], results: Iterable[Tensor]
    ) -> Iterator[tuple[Operation, str, str]]:
        """Yields (op, why, instead) of each op that is refused."""
        found = []
        for op in ops:
            reason = self._reason(op)
            if reason:
                found.append((op, (op, *reason)))
            for name, graph in dependencies.called(op, op.graph):
                if name not in self._seen:
                    self._seen.add(name)
                    self._called.append(graph)
                    inside = self.find(graph.get_operations(), graph.outputs)
                    found += [(op, each) for each in inside]
        needed = _needed(ops, results) if found else ()
        for op, refused in found:
            if op in needed and not (self._host and _is_elsewhere(op)):
                yield refused

    def strings_that_leave(self, results: Iterable[Tensor]) -> Iterator[tuple[Operation, str, str]]:
        """Yields (op, why, instead) of each result that is a string, which no op here computes."""
        for tensor in results:
            source = tensor
            while source.op.type in ("Identity", "IdentityN"):
                source = source.op.inputs[source.value_index]
            if tensor.dtype == tf.string and source.op.type in _PASS_STRINGS:
                if not (self._host_helps or _is_elsewhere(source.op)):
                    yield (source.op, *table.advice("", has_strings=True))

    def _reason(self, op: Operation) -> tuple[str, str] | None:
        """Returns (why, instead) if a TPU refuses an op, else None."""
        kind = op.type
        dtypes = {tensor.dtype.base_dtype.name for tensor in op.outputs}
        no_cause = _NO_CAUSE if self._host else _OF_GRADIENTS
        if kind in self._table.refused and kind not in no_cause:
            strings = "string" in dtypes or any(each.dtype == tf.string for each in op.inputs)
            return None if self._host_helps else table.advice(kind, strings)
        for dtype in sorted(dtypes - self._table.dtypes)[:1]:
            if dtype == "string":
                helped = self._host_helps or kind in _PASS_STRINGS
                return None if helped else table.advice("", has_strings=True)
            other = "complex64" if dtype.startswith("complex") else "float32 or int32"
            return "a TPU has no %s" % dtype, "a dtype that it has, such as %s" % other
        refused = sorted(dtypes.intersection(self._table.refused_dtypes.get(kind, ())))
        taken = {} if refused or self._host_helps else self._table.taken_dtypes.get(kind, {})
        for name, known in taken.items():  # with other dtypes there is no kernel of it
            refused += [dtype for dtype in _dtypes(op, name) if dtype not in known]
        if refused[:1] == ["string"]:
            return table.advice("", has_strings=True)
        if refused:
            return "a TPU computes no %s of %s" % (kind, refused[0]), "tf.cast to float32 or int32"
        for tensor in _inputs(op, self._table.constants.get(kind, ())):
            source = self._unknown_source(tensor)
            if source is not None:
                why = "%s that only the run knows (%s)" % (_OF_VALUE, _described(source))
                return why, "a Python number, or a shape that is known while tracing"
        return _reason_of_loop(op)

    def _unknown_source(self, tensor: Tensor) -> Operation | None:
        """Returns the op of a value that a tensor depends on and XLA does not know, else None."""
        if tensor.op.type == "Const":
            return None
        pending, seen = [tensor], set()
        while pending:
            tensor = pending.pop()
            op = tensor.op
            if op in seen or op.type in _KNOWN:
                continue
            seen.add(op)
            if op.type in _UNKNOWN or random_seeds.is_random(op):
                return op
            if op.type == "Placeholder":
                outer = self._sources.get(id(tensor)) or [functions.captured(tensor)]
                outer = [one for one in outer if not graphs.is_eager(one) and one is not tensor]
                if not outer and not any(op.graph is each for each in self._called):
                    return op
                pending += outer
            elif op.type not in _FLOW and not dependencies.called(op, op.graph):
                pending += op.inputs
        return None


def _described(source: Operation) -> str:
    """Formats where a value comes from, as the user knows it."""
    if source.type == "ReadVariableOp":
        handle = functions.captured(source.inputs[0])
        variable = stored_once.of_handle(handle)
        made = explanations.place_in(stored_once.creation_frames(handle)[::-1])
        name = handle.op.name if variable is None else variable.name.partition(":")[0]
        return "the variable %s" % name + (" of %s" % made if made != "?" else "")
    if source.type == "Placeholder":
        named = source.node_def.attr["_user_specified_name"].s.decode()
        pairs = functions.captures(source.graph) if hasattr(source.graph, "captures") else []
        eagerly = [inner for outer, inner in pairs if graphs.is_eager(outer)]
        given = not named and any(each is source.outputs[0] for each in eagerly)
        return "a tensor of before the step" if given else named or source.name
    line = explanations.place(source)
    return source.type + (" of %s" % line if line != "?" else "")


def _dtypes(op: Operation, name: str) -> list[str]:
    """Returns the names of the dtypes that an attribute of an op holds, [] if it has none such."""
    try:
        value = op.get_attr(name)
    except ValueError:  # of a newer TensorFlow's definition
        return []
    return [each.base_dtype.name for each in (value if isinstance(value, list) else [value])]


def _inputs(op: Operation, names: Sequence[str]) -> list[Tensor]:
    """Returns the inputs of an op that its definition has under some names."""
    found: list[Tensor] = []
    at = 0
    for each in op.op_def.input_arg if names else ():
        count = op.get_attr(each.number_attr) if each.number_attr else 1
        found += list(op.inputs)[at : at + count] if each.name in names else []
        at += count
    return found


def _needed(ops: Sequence[Operation], results: Iterable[Tensor]) -> set[Any]:
    """Returns the ops that results, or ops with an effect, take something from."""
    pending = [tensor.op for tensor in results]
    pending += [op for op in ops if functions.is_stateful(op) and op.type not in _DROPPED]
    needed: set[Any] = set()
    while pending:
        op = pending.pop()
        if op not in needed:
            needed.add(op)
            pending += [tensor.op for tensor in op.inputs]
    return needed


def _is_elsewhere(op: Operation) -> bool:
    """Whether a TPU has something else, or nothing, in the place of an op."""
    if any(name.startswith("outside_compilation") for name in graphs.callers(op)):
        return True
    if graphs.is_made_in(op, "tpudist/virtual/feeds.py"):
        return True
    asserts = op.type == "PyFunc" and graphs.is_made_in(op, "framework/test_util.py")
    return asserts and not graphs.executing_eagerly_outside_functions()


# Loops that XLA's cannot be: an array that grows, and a gradient of unknown many rounds.

#: Functions that give their loops a number of rounds only while they build a program for XLA:
#: AutoGraph's ``for``, and the recurrent layers of Keras.
_BOUND_FOR_XLA = {"for_stmt", "rnn"}


def _reason_of_loop(op: Operation) -> tuple[str, str] | None:
    """Returns (why, instead) if XLA cannot compile a loop, or its gradient, else None."""
    if op.type in graphs.LOOPS:
        grown = _grown(op)
        why = "%s in a round, and a TPU's arrays keep their shapes" % grown
        return (why, _PADDED) if grown else None
    if op.type == "EmptyTensorList" and functions.static_value(op.inputs[1]) == -1:
        loops = [each for each in op.outputs[0].consumers() if each.type in graphs.LOOPS]
        if loops and not any(_BOUND_FOR_XLA.intersection(graphs.callers(each)) for each in loops):
            line = explanations.place(loops[0])
            return "a gradient needs to know the rounds of the loop of %s" % line, _ROUNDS
    return None


_PADDED = "an array of the final size, of which each round writes a part"
_ROUNDS = "maximum_iterations=N of tf.while_loop"


def _grown(loop: Operation) -> str | None:
    """Returns "array changes from SHAPE to SHAPE" of a loop's variable whose shape changes."""
    shapes = [tensor.shape for tensor in loop.inputs]
    body = graphs.called(loop.graph, loop.get_attr("body").name)
    known = [each.is_fully_defined() for each in shapes]
    if body is None or not any(
        is_known and not inner.shape.is_fully_defined()
        for is_known, inner in zip(known, body.inputs)
    ):
        return None
    for before, is_known, after in zip(shapes, known, _result_shapes(loop, body, shapes)):
        if is_known and after.is_fully_defined() and before.as_list() != after.as_list():
            return "array changes from %s to %s" % (before.as_list(), after.as_list())
    return None


def _result_shapes(loop: Operation, body: Any, shapes: Sequence[Any]) -> list[Any]:
    """Returns the shapes after a round whose variables begin with some shapes."""
    with loop.graph.as_default():
        graph = functions.FuncGraph("round")
    functions.add_library(body, graph)
    made: IdentityMap[Any, Any] = IdentityMap()
    with graph.as_default():
        for tensor, shape in zip(body.inputs, shapes):
            made[tensor] = functions.placeholder_like(tensor, shape)
        for op in body.get_operations():
            if op.outputs and op.outputs[0] not in made:
                copy = functions.copy_op(op, [made[tensor] for tensor in op.inputs])
                made.update(zip(op.outputs, copy.outputs))
    return [made[tensor].shape for tensor in body.outputs]


# What the hosts of a slice of several could not do of an input pipeline: they run it, and have
# neither the program's Python nor its disk.

_PYTHON = (
    "the hosts of a slice run the input pipeline, and have no Python of this program",
    "TensorFlow ops, or records that are written beforehand (tf.io.TFRecordWriter)",
)
_FILES = (
    "each host of a slice reads its own disk, and %s is on this machine's",
    "a copy in gs://, which all hosts read",
)

_CALL_PYTHON = frozenset(("PyFunc", "EagerPyFunc", "PyFuncStateless"))

#: Ops that read the files which they are given the names of.
_READ_FILES = frozenset(
    "FixedLengthRecordDataset FixedLengthRecordDatasetV2 ReadFile TextLineDataset TFRecordDataset "
    "TFRecordDatasetV2".split()
)

#: Folders that are on one machine alone; others may be on a disk that hosts share.
_LOCAL = tuple(
    os.path.join(folder, "")
    for folder in (os.path.expanduser("~"), "/home", "/root", "/content", tempfile.gettempdir())
)


def of_pipeline(dataset: object) -> list[Cause]:
    """Returns the causes in the pipeline of a ``tf.data.Dataset``, in the order of its steps."""
    found: dict[Cause, None] = {}
    reads = []
    for step in _steps(dataset):
        if hasattr(step, "_filenames"):
            reads.append(type(step).__name__.strip("_"))
        for function in getattr(step, "_functions", list)():
            graph = getattr(getattr(function, "function", None), "graph", None)
            for _, op in dependencies.all_ops(graph) if graph is not None else ():
                if op.type in _CALL_PYTHON:
                    found[Cause(explanations.place(op), (op.type,), *_PYTHON)] = None
                if op.type in _READ_FILES:
                    reads.append(op.type)
    names = [name for step in _steps(dataset) if reads for name in _strings(step)]
    for local in list(filter(_is_local, names))[:1]:
        here = explanations.place_in(traceback.extract_stack())
        found[Cause(here, (reads[0],), _FILES[0] % local, _FILES[1])] = None
    return list(found)


def _steps(dataset: object) -> Iterator[Any]:
    """Yields a dataset and those that it is made of, the first one first."""
    for each in getattr(dataset, "_inputs", list)():
        yield from _steps(each)
    yield dataset


def _strings(step: object) -> list[str]:
    """Returns the first string of each tensor of strings that a step has."""
    tensors = list(getattr(step, "_tensors", ())) + [getattr(step, "_filenames", None)]
    strings = [each for each in tensors if getattr(each, "dtype", None) == tf.string]
    values = [tf.get_static_value(each) for each in strings]
    firsts = [each for value in values for each in np.ravel(value)[:1]]
    return [tf.compat.as_text(each) for each in firsts if isinstance(each, bytes)]


def _is_local(name: str) -> bool:
    """Whether a file is of this machine alone."""
    if "://" in name or not os.path.exists(name):
        return False
    return not os.path.isabs(name) or name.startswith(_LOCAL)
