"""Signatures as the table writes them."""

import inspect
import re


def shown(method):
    """The signature of a method without ``self``; a default that is an enum by its name."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    return re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", str(inspect.Signature(parameters)))
