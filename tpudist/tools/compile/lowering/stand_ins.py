"""Provides variables for the inputs of a step while it is lowered.

TensorFlow lowers a function that it can call, so each captured variable needs an eager
one. An initialized eager variable is used itself; others have a stand-in, whose value does
not matter.

Where XLA needs a constant, TensorFlow before 2.12 takes the value that an input has while
the step is lowered, and compiles it into the program. A program that depends on the value
of a stand-in is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, NamedTuple, Sequence

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import distributed, graphs, versions
from tpudist.tools.compile import program
from tpudist.tools.compile.hlo import normal_form
from tpudist.tools.compile.lowering import graph_ops, refusals

if TYPE_CHECKING:
    from tpudist.tools.compile.lowering.tracing import Input, Step


class Handle(NamedTuple):
    """The variable of an input: its eager resource tensor, the `program.Parameter` that it
    is, and the variable if it is a stand-in, else None."""

    tensor: tf.Tensor
    parameter: program.Parameter
    stand_in: Any


def variable_handle(captured: Input) -> Handle:
    """Returns the `Handle` of a captured variable.

    An eager variable stands for itself. A stand-in replaces a variable of a graph,
    which has no value outside of a Session, one that is not initialized, and one whose
    value this TensorFlow would compile into the program.

    Args:
      captured: a `tracing.Input`; its `outer` is None if it is of another process.

    Raises:
      CompileError: (a RuntimeError) it is no variable, or its shape is unknown.
    """
    name, placeholder, outer = captured
    shape, dtype = graphs.stored_in(placeholder)
    if shape is None or not shape.is_fully_defined():
        raise CompileError(
            "the step uses the resource %s of shape %s" % (name or placeholder.name, shape),
            "a TPU program can use variables of a known shape only, and no "
            "iterator, table or other resource of the host",
            "pass what it gives as an argument, or create the variable with a shape",
        )
    parameter = program.Parameter(
        name or placeholder.op.name,
        program.VARIABLE,
        dtype.name,
        tuple(shape.as_list()),
        "" if outer is None else graph_ops.creation_line(outer),
    )
    has_value = outer is not None and graphs.is_eager(outer) and graphs.is_initialized(outer)
    if has_value and not _may_be_compiled_in(dtype):
        return Handle(outer, parameter, None)
    variable = stand_in_variable(shape, dtype)
    return Handle(variable.handle, parameter, variable)


def argument_handle(placeholder: tf.Tensor, parameter: program.Parameter) -> Handle:
    """Returns the `Handle` of a variable that stands for an argument.

    Args:
      placeholder: in the step's graph.
      parameter: the `program.Parameter` of the argument.
    """
    variable = stand_in_variable(placeholder.shape, placeholder.dtype)
    return Handle(variable.handle, parameter, variable)


def input_tensor(handle: Handle, placeholder: tf.Tensor) -> tf.Tensor:
    """Returns the tensor that a step gets for a placeholder: the handle, or the value.

    Args:
      handle: its `Handle`.
      placeholder: in the step's graph.
    """
    if placeholder.dtype == tf.resource:
        return handle.tensor
    return tf.raw_ops.ReadVariableOp(resource=handle.tensor, dtype=placeholder.dtype)


def stand_in_variable(shape: tf.TensorShape, dtype: tf.DType) -> tf.Variable:
    """Creates a stand-in: uninitialized memory if it is floating-point, else zeros.

    Context: eager.

    Args:
      shape, dtype: of the variable.
    """
    return distributed.ResourceVariable(_any_value(shape, dtype), trainable=False)


def _any_value(shape: tf.TensorShape, dtype: tf.DType) -> tf.Tensor:
    if not dtype.is_floating:
        return tf.zeros(shape, dtype)
    return tf.raw_ops.Empty(shape=shape, dtype=dtype, init=False)


def _may_be_compiled_in(dtype: tf.DType) -> bool:
    """Whether this TensorFlow may compile a value of a dtype into the program."""
    return not versions.LOWERS_SPECS and (dtype.is_integer or dtype.is_bool)


def lowered_independently(
    step: Step, lower: Callable[[], bytes], handles: Iterable[Handle]
) -> bytes:
    """Lowers a step, and refuses a program that depends on the values of stand-ins.

    Args:
      step: a `tracing.Step`.
      lower: returns the HLO module; stand-ins are zero.
      handles: `Handle` records of all inputs.

    Raises:
      CompileError: (a RuntimeError) the program depends on them.
    """
    folded = [
        each
        for each in handles
        if each.stand_in is not None and _may_be_compiled_in(each.stand_in.dtype)
    ]
    if not folded:
        return lower()
    try:
        hlo = lower()
    except (tf.errors.OpError, ValueError) as error:
        _refuse(step, [each for each in folded if _lowered_with_ones(lower, [each]) is not None])
        _refuse(step, folded if _lowered_with_ones(lower, folded) is not None else [])
        raise error
    if _differs(_lowered_with_ones(lower, folded), hlo):
        needed = [each for each in folded if _differs(_lowered_with_ones(lower, [each]), hlo)]
        _refuse(step, needed or folded)
    return hlo


def _lowered_with_ones(lower: Callable[[], bytes], handles: Sequence[Handle]) -> bytes | None:
    """Lowers with some stand-ins being one in place of zero; returns None if it fails."""
    for each in handles:
        each.stand_in.assign(tf.ones_like(each.stand_in))
    try:
        return lower()
    except (tf.errors.OpError, ValueError):
        return None
    finally:
        for each in handles:
            each.stand_in.assign(tf.zeros_like(each.stand_in))


def _differs(hlo: bytes | None, other: bytes) -> bool:
    if hlo is None:
        return True
    return normal_form.normalized(hlo, 1, 1) != normal_form.normalized(other, 1, 1)


def _refuse(step: Step, needed: Sequence[Handle]) -> None:
    names = ["%s (%s)" % each.parameter[:2] for each in needed]
    if names:
        raise refusals.needed_value_error(names, refusals.line_of_need(step, names))
