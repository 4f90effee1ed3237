"""How a function graph captures the handle of a variable.

TensorFlow asks for each what it asks for any tensor: where it is placed, what it waits for,
which Python calls made it, what its type is, and the last twice. Of a handle all but the type
is of no interest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf
from tensorflow.python.framework import ops

from tpudist.tfcompat import made_ops, versions

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Graph, Tensor


if versions.OPS_TAKE_STACK_TRACES:
    from tensorflow.core.function import trace_type
    from tensorflow.python.ops.handle_data_util import set_handle_data

_ATTRIBUTES = {
    "dtype": made_ops.type_attribute(tf.resource),
    "shape": made_ops.shape_attribute(tf.TensorShape([])),
}


def is_outside(tensor: Tensor) -> bool:
    """Whether `tensor` is an eager handle of a variable, which :func:`capture` can take."""
    return (
        versions.OPS_TAKE_STACK_TRACES
        and isinstance(tensor, ops.EagerTensor)
        and tensor.dtype == tf.resource
        and tensor._handle_data is not None
        and not tensor.is_packed
    )


def capture(graph: Graph, handle: Tensor) -> Any:
    """What stands for `handle` in `graph`, as its ``capture`` gives it.

    Args:
      graph: a FuncGraph.
      handle: the eager handle of a variable.
    """
    captures = graph._function_captures
    held = captures.by_val_internal.get(id(handle))
    if held is None:
        held = made_ops.input_of_function(graph, "resource", _ATTRIBUTES)
        set_handle_data(held, handle._handle_data)
        captures.add_or_replace(
            key=id(handle), external=handle, internal=held, tracetype=trace_type.from_value(handle)
        )
        graph.inputs.append(held)
    held._record_tape(handle)
    return held


def captured(tensors: Sequence[Tensor]) -> Any:
    """`tensors`, as a list, as an op of the current graph takes them."""
    graph = None if tf.executing_eagerly() else ops.get_default_graph()
    if not hasattr(graph, "_function_captures"):
        return list(tensors)
    return [capture(graph, each) if is_outside(each) else each for each in tensors]
