"""A dictionary whose keys are compared by identity: tensors compare by value.

Tensors of TensorFlow 2 compare element by element and have no hash.
"""

from __future__ import annotations

import collections.abc
from typing import Any


class IdentityMap(collections.abc.MutableMapping):  # type: ignore[type-arg]
    """A dictionary by identity, in the order of insertion; it keeps its keys alive.

    Args:
      pairs: [(key, value)], or a mapping of this class.
    """

    def __init__(self, pairs: Any = ()) -> None:
        self._pairs: dict[Any, Any] = {}
        self.update(pairs)

    @classmethod
    def of(cls, keys: Any) -> Any:
        """Each key mapped to itself, for use as an ordered set."""
        return cls((key, key) for key in keys)

    def __getitem__(self, key: Any) -> Any:
        return self._pairs[id(key)][1]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._pairs[id(key)] = (key, value)

    def __delitem__(self, key: Any) -> None:
        del self._pairs[id(key)]

    def __contains__(self, key: Any) -> bool:
        return id(key) in self._pairs

    def __iter__(self) -> Any:
        return (key for key, _ in self._pairs.values())

    def __len__(self) -> int:
        return len(self._pairs)
