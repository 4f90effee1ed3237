"""Calls of the functions that tpudist makes, in the graph that is being built.

Like :mod:`tpudist.tfcompat.functions`, this hides differences between releases; no
semantics live here.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.eager import context
from tensorflow.python.framework import ops

from tpudist.tfcompat import captures, functions, made_ops, versions

if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence

    from tpudist.tfcompat.annotations import DType, Nest, Tensor


if versions.CALLS_INFER_SHAPES:
    from tensorflow.python.eager import record
    from tensorflow.python.framework import auto_control_deps_utils

    _READ_ONLY = auto_control_deps_utils.READ_ONLY_RESOURCE_INPUTS_ATTR


def call(function: Any, inputs: Sequence[Tensor], like: Sequence[Tensor]) -> Any:
    """Calls `function` in the current graph.

    Args:
      function: what ``functions.make`` returned.
      inputs: one tensor per input of the function's graph.
      like: one tensor per output, whose static shape the results get.

    Returns:
      A list of tensors.
    """
    inputs = captures.with_handles_captured(inputs)
    if _is_made_here(function):
        return _like(list(_call_op(function, inputs).outputs), like)
    results = functions.call_flat(function, inputs)
    results = list(results) if results is not None else []
    if results and not isinstance(results[0], ops.EagerTensor):
        made_ops.wait(results[0].op)
    return _like(results, like)


def _is_made_here(function: Any) -> bool:
    """Whether TensorFlow's own call would do no more than :func:`_call_op`."""
    return (
        versions.CALLS_INFER_SHAPES
        and functions.in_function()
        and not record.could_possibly_record()
        and not function.graph.function_captures.control
    )


def _call_op(function: Any, inputs: Sequence[Tensor]) -> Any:
    """The op of a call, which has the gradient that TensorFlow gives it.

    TensorFlow reads the function's definition back, whole, to count its arguments, and infers
    the shapes of all that is in it, which are known, and keeps both.
    """
    graph, called = ops.get_default_graph(), function._inference_function
    graph._add_function_recursive(called)
    gradient = function._get_gradient_function()
    kind = "StatefulPartitionedCall" if called.call_options.is_stateful else "PartitionedCall"
    dtypes = [each.dtype for each in function.graph.outputs]
    with graph._override_gradient_function({kind: gradient}):
        made = made_ops.add(kind, inputs, dtypes, kind, _attributes(called, inputs, dtypes))
    made_ops.wait(made)
    return made


def _attributes(called: Any, inputs: Sequence[Tensor], dtypes: Sequence[DType]) -> Any:
    options = context.context().function_call_options.as_attrs()
    attributes = {name: attr_value_pb2.AttrValue() for name in ("Tin", "Tout", "f", _READ_ONLY)}
    attributes["Tin"].list.type.extend(each.dtype.as_datatype_enum for each in inputs)
    attributes["Tout"].list.type.extend(dtype.as_datatype_enum for dtype in dtypes)
    attributes["f"].func.name = called.name
    only_read = auto_control_deps_utils.get_read_only_resource_input_indices_graph(called.graph)
    attributes[_READ_ONLY].list.i.extend(only_read)
    attributes["config_proto"] = attr_value_pb2.AttrValue(s=options["config_proto"])
    attributes["executor_type"] = attr_value_pb2.AttrValue(s=options["executor_type"].encode())
    attributes["_disable_call_shape_inference"] = attr_value_pb2.AttrValue(b=True)
    return attributes


def call_again(made: Any, inputs: Sequence[Tensor], like: Sequence[Tensor]) -> Any:
    """As :func:`call`, of the function that the op `made` calls in the current graph.

    Returns:
      A list of tensors; None where TensorFlow has to be asked: where gradients are recorded.
    """
    if not versions.CALLS_INFER_SHAPES or record.could_possibly_record():
        return None
    again = functions.copy_op(made, captures.with_handles_captured(inputs))
    again._gradient_function = made._gradient_function
    return _like(list(again.outputs), like)


def _like(results: Nest, like: Sequence[Tensor]) -> Any:
    for result, expected in zip(results, like):
        if expected.dtype in (tf.resource, tf.variant):
            functions.copy_handle_data(expected, result)
        else:
            result.set_shape(expected.shape)
    return results


@contextlib.contextmanager
def as_they_are() -> Iterator[Any]:
    """Functions that are called in the block run their ops one by one, and are not optimised.

    For a function of some reads or assignments there is nothing to optimise.
    """
    with context.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        if versions.FUNCTION_OPTIONS_ARE_KEPT:
            options = context.context().function_call_options  # restored with the executor
            options.config_proto_serialized = _not_optimised(options.config_proto_serialized)
        yield


def _not_optimised(serialized: bytes) -> Any:
    config = config_pb2.ConfigProto.FromString(serialized)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config
