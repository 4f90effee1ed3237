"""Captures reference variables of TensorFlow 1 in function graphs.

A function takes no reference, so what TensorFlow captures of a reference variable is its value
before the call: it cannot be updated, and a loop reads the same value in every step. But
a variable's op finds its state by its shared name. A second op of that name, inside the
function, is the same variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_array_ops, gen_state_ops

from tpudist.tfcompat import nests

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Graph, Operation, Tensor


_VARIABLES = ("VariableV2", "Variable")


def reference_inside(graph: Graph, tensor: Tensor) -> Tensor | None:
    """A second op in `graph` for a reference variable, or its value, of another graph.

    Args:
      graph: the function graph that is about to capture the tensor.
      tensor: any tensor.

    Returns:
      A tensor of `graph`, or None if `tensor` is something else.
    """
    if not nests.is_tensor(tensor) or isinstance(tensor, ops.EagerTensor):
        return None
    if getattr(tensor, "graph", graph) is graph:
        return None
    if tensor.op.type in _VARIABLES:
        return _same_variable(graph, tensor.op)
    source = tensor.op.inputs[0] if tensor.op.type == "Identity" else None
    if source is None or not is_reference(source):
        return None
    with graph.as_default(), tf.control_dependencies(None):
        variable = _same_variable(graph, source.op)
    with graph.as_default():
        return gen_array_ops.deep_copy(variable)  # Grappler of 1.x moves an Identity up.


def is_reference(tensor: Tensor) -> bool:
    """Whether a tensor is a reference variable itself."""
    return tensor.op.type in _VARIABLES


def updates_of_references(graph: Graph) -> list[Any]:
    """The ops of a graph that update a reference variable: to TensorFlow they have no effect."""
    return [
        op
        for op in graph.get_operations()
        if any(tensor.dtype._is_ref_dtype for tensor in op.outputs)
        and op.inputs
        and op.type not in ("RefIdentity", "RefEnter", "RefSwitch", "RefMerge")
    ]


def _same_variable(graph: Graph, op: Operation) -> Tensor:
    with graph.as_default(), tf.control_dependencies(None), tf.device(op.device):
        return gen_state_ops.variable_v2(
            shape=op.outputs[0].shape,
            dtype=op.outputs[0].dtype.base_dtype,
            container=op.get_attr("container").decode(),
            shared_name=op.get_attr("shared_name").decode() or op.name,
            name=op.name.rpartition("/")[2],
        )
