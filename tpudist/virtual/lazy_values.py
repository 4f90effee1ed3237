"""Lazy per-replica values: their parts are made when they are read.

A merge of thousands of replicas mostly takes the sum of the replicas' values, and no
single replica's value.
"""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any, Callable, Iterator

from tpudist.tfcompat import distributed, values_by_device, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest, Value


class Parts(collections.abc.Sequence):  # type: ignore[type-arg]
    """A sequence with one part per replica, each made when it is first read.

    Args:
      count: number of replicas.
      make: gives the part of a replica id.
      is_one: whether all replicas have the part of replica 0.
    """

    def __init__(self, count: int, make: Callable[[int], Any], is_one: bool = False) -> None:
        self._count, self._make, self._is_one = count, make, is_one
        self._parts: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(self._count)[index])
        replica_id = 0 if self._is_one else range(self._count)[index]
        if replica_id not in self._parts:
            self._parts[replica_id] = self._make(replica_id)
        return self._parts[replica_id]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._count))


class PerReplica(values_by_device.PerReplica):
    """TensorFlow's class, which copies its parts when it is made, with lazy ones instead.

    Args:
      *arguments: those of TensorFlow's class, with a `Parts` as the last, the parts.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments[:-1], ())
        self._values = arguments[-1]

    @property
    def values(self) -> tuple[Any, ...]:
        """The parts, as the tuple that TensorFlow's classes have."""
        return tuple(self._values)


def per_replica(extended: Any, parts: Parts) -> Value:
    """A per-replica value of `parts`; made at once in 1.13, which finds them in a dictionary."""
    if versions.DEVICE_MAP:
        return PerReplica(extended._device_map, parts)
    if versions.BY_DEVICE:
        return distributed.per_replica(extended, list(parts))
    return PerReplica(parts).on(extended)


def lazy_parts(value: object) -> Parts | None:
    """The `Parts` of a lazy distributed value; None if the value is not lazy."""
    parts = value._values if isinstance(value, PerReplica) else None
    return parts if isinstance(parts, Parts) else None


def first(value: Any) -> Nest:
    """The first part of a distributed value; it makes no other part."""
    if isinstance(value, PerReplica):
        return value._values[0]
    return distributed.components(value)[0]


def count(value: Any) -> int:
    """The number of parts of a distributed value; it makes none."""
    if isinstance(value, PerReplica):
        return len(value._values)
    return len(distributed.components(value))
