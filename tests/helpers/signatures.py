"""Signatures as the table writes them: without types."""

import inspect
import re


def shown(method):
    """The signature of a method without ``self``; a default that is an enum by its name."""
    return _text(list(inspect.signature(method).parameters.values())[1:])


def shown_function(function):
    """The same of a function."""
    return _text(inspect.signature(function).parameters.values())


def _text(parameters):
    untyped = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
    return re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", str(inspect.Signature(untyped)))
