"""What a step is called with, as its error messages tell it."""

import inspect

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import functions, nests

#: Types of values that are told as they are.
_PLAIN = (bool, int, float, str)


class Call:
    """A call of a step.

    Args:
      fn: the step, or a ``tf.function`` of it.
      args, kwargs: with tensors in place of what becomes a parameter.
    """

    def __init__(self, fn, args, kwargs):
        self.args, self.kwargs = args, kwargs
        self._fn = fn

    def text(self):
        """The tensors and the plain values: ``"x float32[8, 4], n=3"``."""
        named = list(zip(names(self._fn, self.args), self.args)) + sorted(self.kwargs.items())
        told = [
            _told("%s/%s" % (name, path) if path else name, leaf)
            for name, value in named
            for path, leaf in nests.flatten_with_paths(value)
        ]
        return ", ".join(each for each in told if each)

    def misfit(self):
        """Why the step cannot be called so, "" if it can or nobody knows."""
        try:
            found = inspect.signature(_python(self._fn))
        except (TypeError, ValueError):  # a builtin
            return ""
        try:
            found.bind(*self.args, **self.kwargs)
        except TypeError as error:
            return str(error)
        return ""

    def error(self):
        """The `CompileError` of one that cannot."""
        function = _python(self._fn)
        found = inspect.signature(function)
        wanted = ", ".join(
            each.name
            for each in found.parameters.values()
            if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        )
        name = getattr(function, "__name__", type(function).__name__)
        return CompileError(
            "the step is %s%s: %s" % (name, found, self.misfit()),
            "it is called with what one replica gets, which was %s" % (self.text() or "nothing"),
            "a shape or a value for each of %s, in order or by name: --args 'f32[128,4],n=100', "
            "or args and kwargs of compile_step" % (wanted or "its arguments, which are none"),
        )


def names(fn, args):
    """The names of a step's positional arguments.

    Args:
      fn: the step, or a ``tf.function`` of it.
      args: a sequence.
    """
    found = ["argument_%d" % i for i in range(len(args))]
    try:
        parameters = list(inspect.signature(_python(fn)).parameters.values())
    except (TypeError, ValueError):  # a builtin
        return found
    for i, parameter in enumerate(parameters[: len(args)]):
        if parameter.kind == parameter.VAR_POSITIONAL:
            return found[:i] + ["%s_%d" % (parameter.name, j) for j in range(len(args) - i)]
        found[i] = parameter.name
    return found


def _python(fn):
    return fn.python_function if functions.is_function(fn) else fn


def _told(name, leaf):
    if nests.is_tensor(leaf):
        shape = tf.TensorShape(leaf.shape)
        return "%s %s%s" % (name, tf.as_dtype(leaf.dtype).name, shape.as_list())
    return "%s=%r" % (name, leaf) if isinstance(leaf, _PLAIN) else ""
