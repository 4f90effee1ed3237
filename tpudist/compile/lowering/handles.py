"""The variables that a step captured, as the compiler is shown them."""

import collections

import tensorflow as tf

from tpudist.compile import program
from tpudist.errors import CompileError
from tpudist.tfcompat import distributed, graphs, versions

#: The eager resource tensor, and the `program.Parameter` that it is.
Handle = collections.namedtuple("Handle", "tensor parameter variable")


def of(name, held, outer):
    """The `Handle` of a captured resource.

    An eager variable is its own; one of a graph, which has no value outside of
    a Session, and one that nothing has initialized yet, are stood in for.

    Args:
      name: the variable's name, "" if unknown.
      held: the placeholder in the step's graph.
      outer: the tensor that was captured, None if it is of another process.

    Raises:
      CompileError: (a RuntimeError) it is no variable, or its shape is unknown.
    """
    shape, dtype = graphs.stored_in(held)
    if shape is None or not shape.is_fully_defined():
        raise CompileError(
            "the step uses the resource %s of shape %s" % (name or held.name, shape),
            "a TPU program can use variables of a known shape only, and no "
            "iterator, table or other resource of the host",
            "pass what it gives as an argument, or create the variable with a shape",
        )
    parameter = program.Parameter(
        name or held.op.name, program.VARIABLE, dtype.name, tuple(shape.as_list())
    )
    if outer is not None and graphs.is_eager(outer) and graphs.is_initialized(outer):
        return Handle(outer, parameter, None)
    variable = stand_in_variable(shape, dtype)
    return Handle(variable.handle, parameter, variable)


def stand_in(shape, dtype):
    """What stands for a tensor when a function is lowered: its shape; no memory is used.

    Context: eager.

    Args:
      shape, dtype: of the tensor.

    Returns:
      A ``tf.TensorSpec``; before TensorFlow 2.12 a tensor, whose numbers, unless
      they are integers, are whatever was in memory that nobody touches.
    """
    return tf.TensorSpec(shape, dtype) if versions.LOWERS_SPECS else _untouched(shape, dtype)


def stand_in_variable(shape, dtype):
    """The same of a variable; its value is in memory that nobody touches.

    Args:
      shape, dtype: of the variable.
    """
    return distributed.ResourceVariable(_untouched(shape, dtype), trainable=False)


def _untouched(shape, dtype):
    if not dtype.is_floating:
        return tf.zeros(shape, dtype)
    return tf.raw_ops.Empty(shape=shape, dtype=dtype, init=False)
