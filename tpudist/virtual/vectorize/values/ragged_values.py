"""Ragged values, whose numbers of rows differ between replicas and are not known while tracing.

Batches of unknown size and masked rows are tensors ``[None, ...]`` in the trace. For N replicas
there is one tensor, the rows of the first replica, then those of the second, and so on, and N
numbers of rows. An op that treats each row by itself is done once on that tensor.
"""

from __future__ import annotations

import collections
import fractions
import functools
from typing import TYPE_CHECKING, Any, Callable, Sequence

import tensorflow as tf

from tpudist.tfcompat import functions, made_ops
from tpudist.virtual.vectorize.values.batched_values import BatchedValue

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Fn, Shape, Tensor


#: Identifies the numbers of rows of all replicas: they are `factor` times those of `origins`,
#: objects that stand for their sources. With several origins the numbers were broadcast: each
#: replica has the number of one origin, while that of any other origin is the same, or 1.
Key = collections.namedtuple("Key", "origins factor")


#: The device that computes numbers of rows: GPUs lack some of the kernels.
_SIZES_DEVICE = "/device:CPU:0"


class Sizes:
    """The numbers of rows of all replicas, made at most once; equal keys mean equal numbers."""

    def __init__(self, key: Any, make: Fn) -> None:
        self.key = key
        self._make = make
        self._made: dict[str, Tensor] = {}

    def _once(self, name: str, make: Callable[[], Tensor]) -> Tensor:
        if name not in self._made:
            with tf.device(_SIZES_DEVICE):
                self._made[name] = make()
        return self._made[name]

    def tensor(self) -> Tensor:
        """The numbers, an int32 tensor ``[N]``."""
        return self._once("numbers", self._make)

    def total(self) -> Tensor:
        """The number of all replicas' rows, an int32 scalar."""
        return self._once("total", lambda: tf.reduce_sum(self.tensor()))

    def owners(self) -> Tensor:
        """The replica of each row, an int32 tensor."""
        return self._once(
            "owners", lambda: made_ops.upper_bound(tf.cumsum(self.tensor()), tf.range(self.total()))
        )

    def times(self, factor: Any) -> Sizes:
        """The `Sizes` that are `factor`, an int or fraction, times as large."""
        if factor == 1:
            return self
        factor = fractions.Fraction(factor)
        key = Key(self.key.origins, self.key.factor * factor)
        return Sizes(key, lambda: self.tensor() * factor.numerator // factor.denominator)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sizes) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __mul__(self, other: object) -> Sizes:
        return self.times(other) if other and isinstance(other, int) else NotImplemented

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> Sizes:
        return self if other == 1 else NotImplemented


class Ragged(BatchedValue):
    """The rows of all replicas, in one tensor or in parts; their numbers may be unequal."""

    num_tensors = 2

    def __init__(
        self, count: int, row_shape: Any, sizes: Sizes, rows: Any = None, parts: Any = None
    ) -> None:
        self.count = count
        self.shape = [None] + list(row_shape)
        self.sizes = sizes
        self._rows = rows
        self._parts = parts

    @property
    def layout_key(self) -> tuple[Any, ...]:
        """Equal for two values of this class with the same layout."""
        return self.shape, self.sizes.key

    def static_shape(self, tensor: Tensor) -> Shape:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return tf.TensorShape(self.shape)

    def rows(self) -> Tensor:
        """The replicas' rows one after the other."""
        if self._rows is None:
            self._rows = tf.concat(self._parts, 0)
        return self._rows

    def per_replica(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        if self._parts is None:
            self._parts = tf.split(self._rows, self.sizes.tensor(), num=self.count)
        return self._parts

    def tensors(self) -> list[Tensor]:
        """The tensors that it consists of."""
        return [self.rows(), self.sizes.tensor()]

    def sources(self) -> list[Tensor]:
        """The tensors from which every form of it is computed."""
        return self._parts if self._rows is None else [self._rows]

    def with_tensors(self, tensors: Sequence[Tensor]) -> Ragged:
        """Ragged rows, and their numbers, of the same layout."""
        rows, sizes = tensors
        known_sizes = Sizes(self.sizes.key, lambda: sizes)
        return Ragged(self.count, self.shape[1:], known_sizes, rows=rows)

    def placeholders(self, tensor: Tensor) -> Ragged:
        """Placeholders of the same layout for `tensor`, of the trace."""
        sizes = tf.compat.v1.placeholder(tf.int32, [self.count])
        return self.with_tensors([functions.placeholder_like(tensor, self.shape), sizes])


def from_replicas(tensors: Sequence[Tensor], sizes: Sizes | None = None) -> Ragged | None:
    """The `Ragged` of N tensors, of `sizes` if they are known; None if other axes are unknown."""
    shapes = [part.shape for part in tensors]
    if any(shape.rank is None or not shape.rank for shape in shapes):
        return None
    row_shapes = [shape.as_list()[1:] for shape in shapes]
    if None in row_shapes[0] or any(other != row_shapes[0] for other in row_shapes):
        return None
    if sizes is None:
        key = Key(frozenset([object()]), fractions.Fraction(1))  # unrelated to all others
        sizes = Sizes(key, lambda: tf.stack(tf.shape_n(tensors))[:, 0])
    return Ragged(len(tensors), row_shapes[0], sizes, parts=list(tensors))


def broadcast_sizes(values: Any) -> Sizes | None:
    """The `Sizes` to which several `Ragged` are broadcast; None if that is not known."""
    keys = [value.sizes.key for value in values]
    if len({key.factor for key in keys}) > 1:
        return None
    all_origins: frozenset[object] = frozenset().union(*[key.origins for key in keys])
    for value in values:
        if value.sizes.key.origins == all_origins:
            return value.sizes
    key = Key(all_origins, keys[0].factor)
    sizes = [value.sizes for value in values]
    return Sizes(key, lambda: functools.reduce(_broadcast, [each.tensor() for each in sizes]))


def _broadcast(one: Tensor, other: Tensor) -> Tensor:
    fits = tf.equal(one, other) | tf.equal(one, 1) | tf.equal(other, 1)
    message = ["Replicas' numbers of rows cannot be broadcast:", one, other]
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(fits), message)]):
        return tf.where(tf.equal(one, 1), other, one)


def repeat_rows(value: Any, sizes: Sizes) -> Tensor:
    """The rows of a `Ragged`, broadcast to `sizes`: a replica's single row is repeated."""
    if value.sizes.key == sizes.key:
        return value.rows()
    rows, counts = value.rows(), value.sizes.tensor()
    new_counts, owners = sizes.tensor(), sizes.owners()
    repeated = tf.cond(
        tf.reduce_all(tf.equal(counts, new_counts)),
        lambda: tf.identity(rows),
        lambda: tf.gather(rows, _repeated_from(counts, new_counts, owners)),
    )
    repeated.set_shape(rows.shape)
    return repeated


def sum_repeated_rows(value: Any, sizes: Sizes) -> Tensor:
    """The gradient of :func:`repeat_rows`: adds the rows that one of `sizes` was repeated to."""
    if value.sizes.key == sizes.key:
        return value.rows()
    rows, counts, owners = value.rows(), sizes.tensor(), value.sizes.owners()
    repeated_counts = value.sizes.tensor()
    sums = tf.cond(
        tf.reduce_all(tf.equal(counts, repeated_counts)),
        lambda: tf.identity(rows),
        lambda: tf.math.unsorted_segment_sum(
            rows, _repeated_from(counts, repeated_counts, owners), tf.reduce_sum(counts)
        ),
    )
    sums.set_shape(rows.shape)
    return sums


def _repeated_from(counts: Any, new_counts: Any, owners: object) -> Tensor:
    """For each of the repeated rows the position of the row that it is a copy of."""
    with tf.device(_SIZES_DEVICE):  # of each replica's first row among all rows
        starts, new_starts = [tf.cumsum(each, exclusive=True) for each in (counts, new_counts)]
    position = tf.range(tf.reduce_sum(new_counts)) - tf.gather(new_starts, owners)
    position = tf.where(tf.equal(tf.gather(counts, owners), 1), tf.zeros_like(position), position)
    return tf.gather(starts, owners) + position


def checked_rows(value: Any, sizes: Sizes) -> Tensor:
    """The rows of a `Ragged`; the run fails if its numbers of rows are not `sizes`."""
    if value.sizes.key == sizes.key:
        return value.rows()
    one, other = value.sizes.tensor(), sizes.tensor()
    message = ["Replicas' numbers of rows differ:", one, other]
    check = tf.debugging.Assert(tf.reduce_all(tf.equal(one, other)), message)
    with tf.control_dependencies([check]):
        return tf.identity(value.rows())
