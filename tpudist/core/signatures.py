"""The signatures that reference pages show. No TensorFlow."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Callable

    from tpudist.core.annotations import Method


def shown_as(*parameters: str | tuple[str, Any]) -> Callable[[Method], Method]:
    """Decorator: gives a method the signature that its reference page shows.

    The method itself also takes the arguments of later releases.

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

    def decorate(method: Method) -> Method:
        method.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        return method

    return decorate
