"""The variables that a step captured, as the compiler is shown them."""

import collections

import tensorflow as tf

from tpudist.compile import program
from tpudist.errors import CompileError
from tpudist.tfcompat import distributed, graphs

#: The eager resource tensor, and the `program.Parameter` that it is.
Handle = collections.namedtuple("Handle", "tensor parameter variable")


def of(name, held, outer):
    """The `Handle` of a captured resource.

    An eager variable is its own; one of a graph, which has no value outside of
    a Session, is stood in for by zeros of its shape.

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
    if outer is not None and graphs.is_eager(outer):
        return Handle(outer, parameter, None)
    variable = distributed.ResourceVariable(tf.zeros(shape, dtype), trainable=False)
    return Handle(variable.handle, parameter, variable)
