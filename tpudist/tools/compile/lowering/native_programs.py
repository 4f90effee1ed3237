"""The TPU programs in a graph that TensorFlow's own TPUStrategy built.

Such a graph says which ops are one program (``_tpu_replicate``) and what goes
into and comes out of its replicas (``TPUReplicatedInput`` and ``Output``).
The program is taken out of it, as a message for any release to lower.
"""

import collections

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import functions, graphs
from tpudist.tools.compile.lowering import exporting, graph_ops, symbolic_collectives, tracing

_CLUSTER = "_tpu_replicate"

#: Ops of a program that only say what it is, or that are no part of a replica.
_ABOUT = ("TPUReplicateMetadata", "TPUCompilationResult")

#: Ops through which a variable comes into a program.
_SAME = ("Enter", "Identity", "Switch", "TPUReplicatedInput")


def messages(graph):
    """One message for each TPU program in a graph.

    Args:
      graph: a ``tf.Graph``; loops, branches and functions in it are searched
        too.

    Returns:
      A list for :func:`tpudist.tools.compile.lowering.importing.step`.

    Raises:
      CompileError: (a RuntimeError) there is none, or an input of one has no
        known shape.
    """
    programs = collections.OrderedDict()
    for _, op in graph_ops.ops(graph):
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
    """The ops of one program.

    Args:
      graph: the graph that they are in.
      ops: all of them.
    """

    def __init__(self, graph, ops):
        self._graph = graph
        self._ops = [op for op in ops if op.type not in _ABOUT]
        self._about = next(op for op in ops if op.type == _ABOUT[0])
        self._names = {op.name for op in self._ops}
        self._ids = []

    def message(self):
        """The program as a message."""
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
            [(entry["name"], tensor, None) for entry, tensor in entries],
            self._outputs(),
            self._about.get_attr("num_replicas"),
            _attribute(self._about, "num_cores_per_replica") or 1,
        )
        return exporting.written(
            step,
            self._definition(),
            [entry for entry, _ in entries],
            [op.name for op in self._ops if functions.is_stateful(op)],
            self._ops,
        )

    def _entry(self, tensor):
        origin = _origin(tensor)
        shape, dtype = origin.shape, origin.dtype
        if dtype == tf.resource:
            shape, dtype = _stored(origin)
        replicated = tensor.op.type == "TPUReplicatedInput"
        name = origin.op.name if dtype != tensor.dtype else tensor.op.name
        made_at = graph_ops.creation(origin) if dtype != tensor.dtype else ""
        return exporting.entry(name, tensor, replicated, shape, dtype, made_at)

    def _outputs(self):
        """[(name, tensor)]: the tensors that each replica returns."""
        taken = collections.OrderedDict(
            (op.inputs[0].name, op.inputs[0])
            for op in self._graph.get_operations()
            if op.type == "TPUReplicatedOutput" and op.inputs[0].op.name in self._names
        )
        return [("output/%d" % i, tensor) for i, tensor in enumerate(taken.values())]

    def _definition(self):
        """The ``GraphDef`` of the program's ops and all functions."""
        made = tf.compat.v1.GraphDef()
        whole = self._graph.as_graph_def()
        made.versions.CopyFrom(whole.versions)
        made.library.CopyFrom(whole.library)
        for op in self._ops:
            node = made.node.add()
            node.CopyFrom(op.node_def)
            del node.input[:]
            node.input.extend(self._inputs(op))
        if self._ids:
            node = made.node.add(name=symbolic_collectives.REPLICA_ID, op="Const")
            node.attr["dtype"].type = tf.int32.as_datatype_enum
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0, tf.int32))
        return made

    def _inputs(self, op):
        data = [
            symbolic_collectives.REPLICA_ID if tensor.name in self._ids else tensor.name
            for tensor in op.inputs
        ]
        return data + [
            "^" + before.name for before in op.control_inputs if before.name in self._names
        ]


def _is_replica_id(tensor):
    """Whether `tensor` gives each replica its own number."""
    if tensor.op.type != "TPUReplicatedInput" or tensor.dtype != tf.int32:
        return False
    values = [functions.static_value(each) for each in tensor.op.inputs]
    return len(values) > 1 and all(
        value is not None and value.shape == () and value == i for i, value in enumerate(values)
    )


def _origin(tensor):
    """The tensor outside of the program that replica 0's input comes from."""
    while tensor.op.type in _SAME:
        tensor = tensor.op.inputs[0]
    if tensor.op.type == "Placeholder" and isinstance(tensor.graph, functions.FuncGraph):
        for outer, held in functions.captures(tensor.graph):
            if held is tensor and not graphs.is_eager(outer):
                return _origin(outer)
    return tensor


def _stored(handle):
    """(shape, dtype) of the variable of a handle."""
    if handle.op.type != "VarHandleOp":
        return graphs.stored_in(handle)
    shape = tf.TensorShape(handle.op.get_attr("shape"))
    return shape, tf.as_dtype(handle.op.get_attr("dtype"))


def _attribute(op, name):
    try:
        return op.get_attr(name)
    except ValueError:
        return None
