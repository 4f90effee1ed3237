"""A dictionary whose keys are compared by identity: tensors compare by value.

Tensors of TensorFlow 2 compare element by element and have no hash.
"""

from __future__ import annotations

from typing import Iterable, Iterator, Mapping, MutableMapping, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class IdentityMap(MutableMapping[K, V]):
    """A dictionary by identity, in the order of insertion; it keeps its keys alive.

    Args:
      pairs: [(key, value)], or a mapping of this class.
    """

    def __init__(self, pairs: Iterable[tuple[K, V]] | Mapping[K, V] = ()) -> None:
        self._pairs: dict[int, tuple[K, V]] = {}
        self.update(pairs)

    @classmethod
    def of(cls, keys: Iterable[K]) -> IdentityMap[K, K]:
        """Each key mapped to itself, for use as an ordered set."""
        return IdentityMap((key, key) for key in keys)

    def __getitem__(self, key: K) -> V:
        return self._pairs[id(key)][1]

    def __setitem__(self, key: K, value: V) -> None:
        self._pairs[id(key)] = (key, value)

    def __delitem__(self, key: K) -> None:
        del self._pairs[id(key)]

    def __contains__(self, key: object) -> bool:
        return id(key) in self._pairs

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._pairs.values())

    def __len__(self) -> int:
        return len(self._pairs)
