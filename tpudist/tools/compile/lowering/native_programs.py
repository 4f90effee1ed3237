"""Extracts the TPU programs from a graph that TensorFlow's own TPUStrategy built.

Such a graph says which ops are one program (``_tpu_replicate``), and which tensors enter
and leave its replicas (``TPUReplicatedInput`` and ``Output``). The program is written as a
message, which any release can lower.
"""

from __future__ import annotations

import collections
from typing import Any, Sequence

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import functions, graphs
from tpudist.tools.compile.lowering import graph_ops, step_message, symbolic_replicas, tracing
from tpudist.virtual.trace import all_ops

#: The attribute that names the program of an op.
_CLUSTER = "_tpu_replicate"

#: Ops of a program that describe it, and are no part of a replica.
_DESCRIPTIONS = ("TPUReplicateMetadata", "TPUCompilationResult")

#: Ops that pass a variable on into a program.
_PASSING = ("Enter", "Identity", "Switch", "TPUReplicatedInput")


def messages(graph: tf.Graph) -> list[dict[str, Any]]:
    """Writes a message for each TPU program in a graph, its loops, branches and functions.

    Raises:
      CompileError: there is no program, or an input of one has no known shape.
    """
    programs: dict[tuple[Any, Any], list[Any]] = collections.OrderedDict()
    for _, op in all_ops.ops(graph):
        cluster = _attribute(op, _CLUSTER)
        if cluster is not None:
            ops = programs.setdefault((op.graph, cluster), [])
            ops += [op] if op not in ops[-1:] else []
    if not programs:
        raise CompileError(
            "a graph without a TPU program",
            "no op of it is of a TPUReplicate",
            "the graph in which strategy.run was called on a native TPUStrategy",
        )
    return [
        _Program(owner, list(collections.OrderedDict.fromkeys(ops))).message()
        for (owner, _), ops in programs.items()
    ]


class _Program:
    """The ops of one program, and the graph that they are in."""

    def __init__(self, graph: tf.Graph, ops: Sequence[tf.Operation]) -> None:
        self._graph = graph
        self._ops = [op for op in ops if op.type not in _DESCRIPTIONS]
        self._metadata = next(op for op in ops if op.type == _DESCRIPTIONS[0])
        self._names = {op.name for op in self._ops}
        self._ids: list[str] = []

    def message(self) -> dict[str, Any]:
        """Writes the program as a message."""
        outside = collections.OrderedDict(
            (tensor.name, tensor)
            for op in self._ops
            for tensor in op.inputs
            if tensor.op.name not in self._names
        )
        self._ids = [name for name, tensor in outside.items() if _is_replica_id(tensor)]
        entries = [
            (self._entry(tensor), tensor)
            for name, tensor in outside.items()
            if name not in self._ids
        ]
        step = tracing.Step(
            self._graph,
            [tracing.Input(entry["name"], tensor, None) for entry, tensor in entries],
            self._outputs(),
            self._metadata.get_attr("num_replicas"),
            _attribute(self._metadata, "num_cores_per_replica") or 1,
        )
        return step_message.message_of_ops(
            step,
            self._definition(),
            [entry for entry, _ in entries],
            [op.name for op in self._ops if functions.is_stateful(op)],
            self._ops,
        )

    def _entry(self, tensor: tf.Tensor) -> dict[str, Any]:
        """Returns the input of the message for a tensor that enters the program."""
        origin = _origin(tensor)
        shape, dtype, name, location = origin.shape, origin.dtype, tensor.op.name, ""
        if dtype == tf.resource:
            shape, dtype = _stored(origin)
        if dtype != tensor.dtype:
            name, location = origin.op.name, graph_ops.creation_line(origin)
        replicated = tensor.op.type == "TPUReplicatedInput"
        return step_message.input_entry(name, tensor, replicated, shape, dtype, location)

    def _outputs(self) -> list[tuple[str, tf.Tensor]]:
        """Returns (name, tensor) of each tensor that a replica returns."""
        returned = collections.OrderedDict(
            (op.inputs[0].name, op.inputs[0])
            for op in self._graph.get_operations()
            if op.type == "TPUReplicatedOutput" and op.inputs[0].op.name in self._names
        )
        return [("output/%d" % i, tensor) for i, tensor in enumerate(returned.values())]

    def _definition(self) -> Any:
        """Returns the ``GraphDef`` of the program's ops and all functions."""
        definition = tf.compat.v1.GraphDef()
        whole = self._graph.as_graph_def()
        definition.versions.CopyFrom(whole.versions)
        definition.library.CopyFrom(whole.library)
        for op in self._ops:
            node = definition.node.add()
            node.CopyFrom(op.node_def)
            del node.input[:]
            node.input.extend(self._inputs(op))
        if self._ids:
            node = definition.node.add(name=symbolic_replicas.REPLICA_ID, op="Const")
            node.attr["dtype"].type = tf.int32.as_datatype_enum
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0, tf.int32))
        return definition

    def _inputs(self, op: tf.Operation) -> list[str]:
        data = [
            symbolic_replicas.REPLICA_ID if tensor.name in self._ids else tensor.name
            for tensor in op.inputs
        ]
        return data + [
            "^" + before.name for before in op.control_inputs if before.name in self._names
        ]


def _is_replica_id(tensor: tf.Tensor) -> bool:
    """Whether a tensor has, for each replica, the replica's number."""
    if tensor.op.type != "TPUReplicatedInput" or tensor.dtype != tf.int32:
        return False
    values = [functions.static_value(each) for each in tensor.op.inputs]
    return len(values) > 1 and all(
        value is not None and value.shape == () and value == i for i, value in enumerate(values)
    )


def _origin(tensor: tf.Tensor) -> tf.Tensor:
    """Returns the tensor outside of the program that replica 0's input comes from."""
    while tensor.op.type in _PASSING:
        tensor = tensor.op.inputs[0]
    if tensor.op.type == "Placeholder" and isinstance(tensor.graph, functions.FuncGraph):
        for outer, placeholder in functions.captures(tensor.graph):
            if placeholder is tensor and not graphs.is_eager(outer):
                return _origin(outer)
    return tensor


def _stored(handle: tf.Tensor) -> tuple[tf.TensorShape, tf.DType]:
    """Returns (shape, dtype) of the variable of a handle."""
    if handle.op.type != "VarHandleOp":
        return graphs.stored_in(handle)
    shape = tf.TensorShape(handle.op.get_attr("shape"))
    return shape, tf.as_dtype(handle.op.get_attr("dtype"))


def _attribute(op: tf.Operation, name: str) -> Any:
    """Returns an attribute of an op, None if it has none of that name."""
    try:
        return op.get_attr(name)
    except ValueError:
        return None
