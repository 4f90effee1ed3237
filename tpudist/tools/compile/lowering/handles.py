"""The variables that a step captured, as the compiler sees them."""

import collections

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import distributed, graphs
from tpudist.tools.compile import program
from tpudist.tools.compile.lowering import folded, graph_ops

#: The eager resource tensor, its `program.Parameter`, and its stand-in or None.
Handle = collections.namedtuple("Handle", "tensor parameter variable")


def of(name, held, outer):
    """The `Handle` of a captured resource.

    An eager variable stands for itself. A stand-in replaces a variable of a graph,
    which has no value outside of a Session, one that is not initialized, and one whose
    value this TensorFlow would compile in.

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
        name or held.op.name,
        program.VARIABLE,
        dtype.name,
        tuple(shape.as_list()),
        "" if outer is None else graph_ops.creation(outer),
    )
    known = outer is not None and graphs.is_eager(outer) and graphs.is_initialized(outer)
    if known and not folded.can_be(dtype):
        return Handle(outer, parameter, None)
    variable = stand_in_variable(shape, dtype)
    return Handle(variable.handle, parameter, variable)


def of_argument(held, parameter):
    """The `Handle` of a variable that stands for an argument.

    Args:
      held: the placeholder in the step's graph.
      parameter: the `program.Parameter` of the argument.
    """
    variable = stand_in_variable(held.shape, held.dtype)
    return Handle(variable.handle, parameter, variable)


def taken(handle, held):
    """The tensor that a step gets for a placeholder: the variable's handle, or its value.

    Args:
      handle: its `Handle`.
      held: the placeholder.
    """
    if held.dtype == tf.resource:
        return handle.tensor
    return tf.raw_ops.ReadVariableOp(resource=handle.tensor, dtype=held.dtype)


def stand_in_variable(shape, dtype):
    """A variable to stand for another: its value is untouched memory if it is
    floating-point, else zeros.

    Context: eager.

    Args:
      shape, dtype: of the variable.
    """
    return distributed.ResourceVariable(_untouched(shape, dtype), trainable=False)


def _untouched(shape, dtype):
    if not dtype.is_floating:
        return tf.zeros(shape, dtype)
    return tf.raw_ops.Empty(shape=shape, dtype=dtype, init=False)
