"""The signatures that reference pages show. No TensorFlow."""

import inspect


def shown_as(*parameters):
    """Decorator: the signature of a method as its reference page shows it.

    For a method that also takes the arguments of later releases.

    Args:
      *parameters: names of the parameters, without ``self``; a pair is a name
        and its default.
    """
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [inspect.Parameter("self", kind)]
    for parameter in parameters:
        name, default = (
            parameter if isinstance(parameter, tuple) else (parameter, inspect.Parameter.empty)
        )
        shown.append(inspect.Parameter(name, kind, default=default))

    def decorate(method):
        method.__signature__ = inspect.Signature(shown)
        return method

    return decorate
