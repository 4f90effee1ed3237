"""Finds the stand-ins whose values TensorFlow before 2.12 compiles into a program.

Where XLA wants a constant, these releases take the value that an input has while the
program is lowered. A program that is another one with another value is refused.
"""

import tensorflow as tf

from tpudist.tfcompat import versions
from tpudist.tools.compile.hlo import normal_form
from tpudist.tools.compile.lowering import needed_values


def can_be(dtype):
    """Whether this TensorFlow may compile in a value of a dtype.

    Args:
      dtype: a ``tf.DType``.
    """
    return not versions.LOWERS_SPECS and (dtype.is_integer or dtype.is_bool)


def checked(step, lower, stored):
    """What lowering gives, if it does not depend on the values of stand-ins.

    Args:
      step: a `tracing.Step`.
      lower: gives the HLO module as bytes; stand-ins are zero.
      stored: `handles.Handle` records.

    Raises:
      CompileError: (a RuntimeError) it does.
    """
    changed = [each for each in stored if each.variable is not None and can_be(_dtype(each))]
    if not changed:
        return lower()
    try:
        text = lower()
    except (tf.errors.OpError, ValueError) as error:
        _refuse(step, [each for each in changed if _given(lower, [each]) is not None])
        _refuse(step, changed if _given(lower, changed) is not None else [])
        raise error
    if _differs(_given(lower, changed), text):
        needed = [each for each in changed if _differs(_given(lower, [each]), text)]
        _refuse(step, needed or changed)
    return text


def _dtype(handle):
    return handle.variable.dtype


def _given(lower, chosen):
    """What lowering gives with stand-ins that are one; None if it fails."""
    for each in chosen:
        each.variable.assign(tf.ones_like(each.variable))
    try:
        return lower()
    except (tf.errors.OpError, ValueError):
        return None
    finally:
        for each in chosen:
            each.variable.assign(tf.zeros_like(each.variable))


def _differs(text, other):
    if text is None:
        return True
    return normal_form.normalized(text, 1, 1) != normal_form.normalized(other, 1, 1)


def _refuse(step, needed):
    names = ["%s (%s)" % each.parameter[:2] for each in needed]
    if names:
        raise needed_values.refusal(names, needed_values.place(step, names))
