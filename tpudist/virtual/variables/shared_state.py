"""Shares the state of a variable with what wraps it.

Keras wraps a variable for mixed precision in an ``AutoCastVariable``, whose class inherits the
variable's. It asks the variable for each attribute that neither it nor its class has: one with a
default in the class would never be asked for, and one that is set would be set on the wrapper.
"""

from __future__ import annotations

from typing import Any, Callable


class Shared:
    """An attribute that a variable and what wraps it have in common.

    Args:
      make: gives its first value.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, variable: object, owner: type) -> Any:
        if variable is None:
            return self
        state = _state(variable)
        if self._name not in state:
            state[self._name] = self._make()
        return state[self._name]

    def __set__(self, variable: object, value: object) -> None:
        _state(variable)[self._name] = value


def _state(variable: object) -> dict[str, Any]:
    """{attribute: value} of a variable, or of the variable that it wraps."""
    own = vars(variable)
    if "_variable" in own:  # of Keras' AutoCastVariable
        return _state(own["_variable"])
    state: dict[str, Any] = own.setdefault("_tpudist_state", {})
    return state
