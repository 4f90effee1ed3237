"""Stand-ins: variables of a class of ours that share all other state with the stored one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_classes: dict[Any, Any] = {}


def make(kind: Any, stored: Any, slot: str, value: Any) -> Any:
    """A variable that shares all that `stored` is, but its class.

    Args:
      kind: the class of what it does otherwise; ``kind.members(base)`` gives the members
        that it has besides, for a stored variable of class `base`.
      stored: the variable that is stored.
      slot: the attribute that is its own.
      value: what that holds.
    """
    cls = _class_of(kind, type(stored), slot)
    made = cls.__new__(cls)
    object.__setattr__(made, "__dict__", stored.__dict__)
    object.__setattr__(made, slot, value)
    return made


def _class_of(kind: Any, base: Any, slot: str) -> Any:
    if (kind, base) not in _classes:
        members = dict(kind.members(base), __slots__=(slot,), __module__=base.__module__)
        _classes[kind, base] = type(base)(base.__name__, (kind, base), members)
    return _classes[kind, base]
