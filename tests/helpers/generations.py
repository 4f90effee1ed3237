"""The tests that are about one generation of TensorFlow: their marks, and its state."""

import contextlib

import pytest
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.ops import control_flow_util, variable_scope

from tpudist.tfcompat import versions

#: tf.contrib is real there, and what tpudist does not cover comes from it.
first_generation = pytest.mark.skipif(versions.TF2, reason="TensorFlow 1 only")
second_generation = pytest.mark.skipif(
    not versions.TF2, reason="TensorFlow 1 has the real tf.contrib"
)


@contextlib.contextmanager
def first_generation_switches():
    """The control flow and the variables of TensorFlow 1."""
    # The public functions that do and tell this came with 1.14 and 1.15.
    tf1, flow = tf.compat.v1, control_flow_util.ENABLE_CONTROL_FLOW_V2
    resources = getattr(
        tf1, "resource_variables_enabled", lambda: variable_scope._DEFAULT_USE_RESOURCE
    )()
    control_flow_util.ENABLE_CONTROL_FLOW_V2 = False
    tf1.disable_resource_variables()
    try:
        yield
    finally:
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = flow
        if resources:
            tf1.enable_resource_variables()


@contextlib.contextmanager
def as_tensorflow_1_starts():
    """TensorFlow 1 as a script finds it, though other tests have switched it to v2 behaviour."""
    with contextlib.ExitStack() as stack:
        if not versions.TF2:
            stack.enter_context(context.graph_mode())
            stack.enter_context(first_generation_switches())
            if isinstance(tf.TensorShape([1])[0], int):
                tf.compat.v1.disable_v2_tensorshape()
                stack.callback(tf.compat.v1.enable_v2_tensorshape)
            if getattr(tf.Tensor, "_USE_EQUALITY", False):
                tf.compat.v1.disable_tensor_equality()
                stack.callback(tf.compat.v1.enable_tensor_equality)
        yield
