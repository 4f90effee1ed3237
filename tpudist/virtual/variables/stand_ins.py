"""Makes stand-ins: variables of a class of ours that share their state with a stored one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_classes: dict[Any, Any] = {}


def make(kind: Any, stored: Any, slot: str, value: Any) -> Any:
    """A variable that shares all state of `stored`, but not its class.

    Args:
      kind: the class with its own members; ``kind.members(base)`` gives further ones, for a
        stored variable of class `base`.
      stored: the variable that is stored.
      slot: the one attribute that is not shared.
      value: the value of that attribute.
    """
    cls = _class_of(kind, type(stored), slot)
    variable = cls.__new__(cls)
    object.__setattr__(variable, "__dict__", stored.__dict__)
    object.__setattr__(variable, slot, value)
    return variable


def _class_of(kind: Any, base: Any, slot: str) -> Any:
    if (kind, base) not in _classes:
        members = dict(kind.members(base), __slots__=(slot,), __module__=base.__module__)
        _classes[kind, base] = type(base)(base.__name__, (kind, base), members)
    return _classes[kind, base]
