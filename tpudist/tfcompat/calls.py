"""Calls of the functions that tpudist makes, in the graph that is being built.

Like :mod:`tpudist.tfcompat.functions`, this hides differences between releases; no
semantics live here.
"""

import contextlib

import tensorflow as tf
from tensorflow.core.framework import function_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.eager import context
from tensorflow.python.framework import ops

from tpudist.tfcompat import functions, handle_captures, made_ops, versions

if versions.CALLS_READ_DEFINITIONS:
    from tensorflow.python.eager import record


def call(function, inputs, like):
    """Calls `function` in the current graph.

    Args:
      function: what ``functions.make`` returned.
      inputs: one tensor per input of the function's graph.
      like: one tensor per output, whose static shape the results get.

    Returns:
      A list of tensors.
    """
    inputs = handle_captures.captured(inputs)
    with _undescribed(function, len(inputs)):
        results = functions.call_flat(function, inputs)
    results = list(results) if results is not None else []
    if results and not isinstance(results[0], ops.EagerTensor):
        made_ops.wait(results[0].op)
    return _like(results, like)


def call_again(made, inputs, like):
    """As :func:`call`, of the function that the op `made` calls in the current graph.

    Returns:
      A list of tensors; None where TensorFlow has to be asked: where gradients are recorded.
    """
    if not versions.CALLS_READ_DEFINITIONS or record.could_possibly_record():
        return None
    again = functions.copy_op(made, handle_captures.captured(inputs))
    again._gradient_function = made._gradient_function
    return _like(list(again.outputs), like)


def _like(results, like):
    for result, expected in zip(results, like):
        if expected.dtype in (tf.resource, tf.variant):
            functions.copy_handle_data(expected, result)
        else:
            result.set_shape(expected.shape)
    return results


@contextlib.contextmanager
def as_they_are():
    """Functions that are called in the block run their ops one by one, and are not optimised.

    For a function of some reads or assignments there is nothing to optimise.
    """
    with context.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        if versions.FUNCTION_OPTIONS_ARE_KEPT:
            options = context.context().function_call_options  # restored with the executor
            options.config_proto_serialized = _not_optimised(options.config_proto_serialized)
        yield


def _not_optimised(serialized):
    config = config_pb2.ConfigProto.FromString(serialized)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


@contextlib.contextmanager
def _undescribed(function, count):
    """`function` can be called in the block without its definition.

    TensorFlow reads the definition back, whole, and keeps it, to count the arguments and to
    look for an attribute that none of our functions has.

    Args:
      function: what ``functions.make`` returned.
      count: how many arguments it takes.
    """
    atomic = getattr(function, "_inference_function", None)
    if not versions.CALLS_READ_DEFINITIONS or atomic._cached_definition is not None:
        yield
        return
    atomic._cached_definition = function_pb2.FunctionDef()
    for _ in range(count):
        atomic._cached_definition.signature.input_arg.add()
    try:
        yield
    finally:
        atomic._cached_definition = None
