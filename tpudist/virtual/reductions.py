"""Reduces values over replicas that share one device: once, with an alias for each replica."""

from __future__ import annotations

import collections.abc
import functools
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

import tensorflow as tf

from tpudist.errors import CollectiveError
from tpudist.tfcompat import distributed, distributed_values, graphs, made_ops, nests, versions
from tpudist.virtual.trace import function_graphs

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Extended, Fn, Nest, Tensor, Value


def combine(
    reduce_op: object, tensors: Sequence[Tensor], leaf: str = "", destinations: object = None
) -> Nest:
    """Sums or averages one tensor per replica (or IndexedSlices, number, array) on the one device.

    The sum is a chain, so that a replica's addend is freed as soon as it is added; what batched
    replicas computed is summed in one tensor. `leaf` is its place in a nest, for the error;
    `destinations` is the variable that gets the result, if one does.
    """
    tensors = [
        of_tensors(t) if distributed.is_tensor_like(t) else distributed.as_tensor(t, destinations)
        for t in tensors
    ]
    _check(tensors, leaf)
    with function_graphs.named("AllReduce"):
        stacked = graphs.divided(tensors, "Unpack")
        total = (
            distributed.aggregate(tensors, _add_chain)
            if stacked is None
            else tf.reduce_sum(stacked, 0)
        )
    if reduce_op == tf.distribute.ReduceOp.MEAN:
        return distributed.divide(total, len(tensors))
    return total


def along(extended: Extended, reduce_op: object, value: object, axis: object) -> Tensor:
    """Reduces over the replicas of all hosts and along `axis`; a plain value is that of each."""
    count = len(extended.worker_devices)
    parts = distributed.components(value) if distributed.is_distributed(value) else [value] * count
    with extended.place():
        tensors = [tf.convert_to_tensor(part) for part in parts]
        return combine_along(reduce_op, tensors, axis, extended.over_hosts)


def combine_along(reduce_op: Any, tensors: Sequence[Tensor], axis: Any, over_hosts: Fn) -> Tensor:
    """Reduces over replicas and along `axis` of each replica's tensor, where sizes may differ.

    MEAN divides by the number of examples that the replicas really have.
    ``over_hosts(SUM, values)`` adds values of this process over all hosts.
    """
    add_hosts = functools.partial(over_hosts, tf.distribute.ReduceOp.SUM)
    if _is_one_batch(tensors, axis):
        tensors = [tf.concat(tensors, axis)]
    [total] = add_hosts([_add_chain([tf.reduce_sum(t, axis=axis) for t in tensors])])
    if reduce_op != tf.distribute.ReduceOp.MEAN:
        return total
    counts = []
    for tensor in tensors:
        axes = tf.reshape(axis, [-1]) % tf.rank(tensor)
        counts.append(tf.reduce_prod(tf.gather(tf.shape(tensor, out_type=tf.int64), axes)))
    [count] = add_hosts([_add_chain(counts)])
    return total / tf.cast(count, total.dtype)


def _is_one_batch(tensors: Sequence[Tensor], axis: object) -> bool:
    """Whether the tensors differ at most in their sizes along `axis`, one dimension."""
    if not isinstance(axis, int) or any(t.shape.rank is None for t in tensors):
        return False
    shapes = [t.shape.as_list() for t in tensors]
    if any(not -len(sizes) <= axis < len(sizes) for sizes in shapes):
        return False
    for sizes in shapes:
        sizes[axis] = 0
    return None not in shapes[0] and all(sizes == shapes[0] for sizes in shapes)


def add(total: Any, value: Any, leaf: str = "") -> Tensor:
    """``total + value`` of one shape: as on a TPU, nothing is broadcast."""
    _check([total, value], leaf)
    if total.shape.is_fully_defined() and value.shape.is_fully_defined():
        return tf.add(total, value)
    same = tf.debugging.assert_equal(
        tf.shape(total),
        tf.shape(value),
        message="the collective on %r got values of different shapes, one per "
        "replica" % (leaf or value.op.name),
    )
    with tf.control_dependencies([] if same is None else [same]):
        return tf.add(total, value)


def _add_chain(tensors: Sequence[Tensor]) -> Tensor:
    return functools.reduce(add, tensors)


def of_tensors(value: object, dtype: object = None) -> Any:
    """`value`; of IndexedSlices each part as a tensor, new ones of `dtype` if there is one."""
    if not isinstance(value, distributed.IndexedSlices):
        return value
    values = value.values
    if not nests.is_tensor(values):
        values = tf.convert_to_tensor(values, dtype)
    shape = value.dense_shape
    shape = None if shape is None else tf.convert_to_tensor(shape)
    return distributed.IndexedSlices(values, tf.convert_to_tensor(value.indices), shape)


def copies(value: Any, count: int) -> list[Any]:
    """`count` distinct objects of one value: N times one would be a value never distributed."""
    if isinstance(value, tf.Operation) or value is None:
        return [value] * count
    if not isinstance(value, distributed.IndexedSlices):
        return [value] + [made_ops.alias(value) for _ in range(count - 1)]
    pairs = zip(copies(value.values, count), copies(value.indices, count))
    return [distributed.IndexedSlices(*pair, value.dense_shape) for pair in pairs]


def spread(extended: Extended, value: object, destinations: object) -> Nest:
    """The reduced `value` on `destinations`, as a strategy returns it."""
    if isinstance(destinations, PerReplica):
        devices = count(destinations)
    else:
        devices = distributed.device_count(destinations)
    return value if devices == 1 else mirror(extended, value, devices)


def mirror(extended: Extended, value: object, count: int) -> Nest:
    """A ``Mirrored`` of `count` times `value`."""
    trace = function_graphs.current()
    shared = trace is not None and not trace.regroups
    parts = [value] * count if shared else copies(value, count)
    return distributed.mirrored(extended, parts)


def _check(tensors: Sequence[Tensor], leaf: object) -> None:
    first = tensors[0]
    if not all(hasattr(t, "dtype") for t in tensors):
        return
    if any(t.dtype != first.dtype for t in tensors[1:]):
        raise _mismatch(leaf, first, "dtypes", [t.dtype.name for t in tensors])
    if not isinstance(first, distributed.IndexedSlices) and any(
        not first.shape.is_compatible_with(t.shape) for t in tensors[1:]
    ):
        raise _mismatch(leaf, first, "shapes", [str(t.shape) for t in tensors])


def _mismatch(leaf: Any, first: object, what: str, seen: Any) -> CollectiveError:
    name = leaf or getattr(getattr(first, "op", None), "name", "value")
    return CollectiveError(
        "the collective on %r got %s %s, one per replica" % (name, what, ", ".join(seen)),
        "an all-reduce adds values of one shape and dtype",
        "make the leaf equal in every replica (drop_remainder=True on the "
        "dataset), or reduce along the batch with strategy.reduce(op, value, "
        "axis=0)",
    )


def repeat(result: object, count: int) -> list[Any]:
    """Repeats the result of an update that ran once: one result per component."""
    flat = [
        copies(leaf, count) if is_value(leaf) else [leaf] * count for leaf in nests.flatten(result)
    ]
    return [nests.pack_sequence_as(result, [leaf[i] for leaf in flat]) for i in range(count)]


def is_value(leaf: object) -> bool:
    """Whether a result of an update is a value, and no variable or op."""
    return distributed.is_assignment(leaf) or (
        nests.is_tensor(leaf) and not isinstance(leaf, tf.Variable)
    )


# Per-replica values whose parts are made when they are read.


class Parts(collections.abc.Sequence):  # type: ignore[type-arg]
    """A sequence with one part per replica, each made when it is first read; or one for all."""

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


class PerReplica(distributed_values.PerReplicaByDevice):
    """A ``PerReplica`` that makes its parts when they are asked for, by the `Parts` given last."""

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


def count(value: Any) -> int:
    """The number of parts of a distributed value; it makes none."""
    if isinstance(value, PerReplica):
        return len(value._values)
    return len(distributed.components(value))
