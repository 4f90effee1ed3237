"""Ragged values: only the run knows how many rows each replica has.

A batch of unknown size, the last one of a dataset, what a mask keeps: in the trace a tensor
``[None, ...]``. For N replicas it is one tensor with the rows of the first replica, then
those of the second, and N numbers of rows. Ops that treat each row by itself are done on it
as they are.
"""

from __future__ import annotations

import collections
import fractions
import functools
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions, made_ops
from tpudist.virtual import reductions

if TYPE_CHECKING:
    from typing import Any, Callable, Sequence

    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.annotations import BatchedValue


#: What is known of numbers of rows: `factor` x those of `origins`, objects that stand for
#: where they come from; of several, each replica's is 1 or that of the others.
Key = collections.namedtuple("Key", "origins factor")


#: Where numbers of rows are computed: a GPU has no kernels for some of it.
_NUMBERS = "/device:CPU:0"


class Sizes:
    """How many rows each replica has.

    Args:
      key: the `Key`; of equal keys the numbers are equal.
      make: returns the int32 tensor ``[N]`` of them; called once, in the graph of the value.
      owners: int32: the replica of each row, if it is at hand.
    """

    def __init__(self, key: Any, make: Callable[..., Any], owners: Any = None) -> None:
        self.key = key
        self._make = make
        self._owners = owners
        self._tensor = self._total = None

    def tensor(self) -> Any:
        """int32 ``[N]``."""
        if self._tensor is None:
            with tf.device(_NUMBERS):
                self._tensor = self._make()
        return self._tensor

    def owners(self) -> Any:
        """int32: the replica of each row."""
        if self._owners is None:
            with tf.device(_NUMBERS):
                ends = tf.cumsum(self.tensor())
                self._owners = made_ops.upper_bound(ends, tf.range(self.total()))
        return self._owners

    def total(self) -> Any:
        """The number of rows of all replicas, an int32."""
        if self._total is None:
            with tf.device(_NUMBERS):
                self._total = tf.reduce_sum(self.tensor())
        return self._total

    def times(self, factor: Any) -> Any:
        """The sizes of what has `factor`, a fraction, times as many rows."""
        if factor == 1:
            return self
        factor = fractions.Fraction(factor)
        key = Key(self.key.origins, self.key.factor * factor)
        return Sizes(key, lambda: self.tensor() * factor.numerator // factor.denominator)


def starts(sizes: Sizes) -> Any:
    """int32 ``[N]``: which of all rows is the first of each replica."""
    with tf.device(_NUMBERS):
        return tf.cumsum(sizes, exclusive=True)


def ratio(one: Any, other: Any) -> Any:
    """The fraction of two ints."""
    return fractions.Fraction(one, other)


def unknown(make: Callable[..., Any], owners: Any = None) -> Any:
    """The `Sizes` of rows of which nothing is known; `make` and `owners` as there."""
    return Sizes(Key(frozenset([object()]), fractions.Fraction(1)), make, owners)


class Ragged:
    """The rows of all replicas, which may have different numbers of them.

    Args:
      count: number of replicas.
      rest: the shape of a row, a list of ints.
      sizes: the `Sizes`.
      rows: the tensor of all rows; or
      parts: one tensor per replica.
    """

    #: How many tensors hold it.
    width = 2

    def __init__(
        self, count: int, rest: Any, sizes: Sizes, rows: Any = None, parts: Any = None
    ) -> None:
        self.count = count
        self.shape = [None] + list(rest)
        self.sizes = sizes
        self._rows = rows
        self._parts = parts

    @property
    def fit(self) -> tuple[Any, ...]:
        """What another value must have in common to be held in the same way."""
        return self.shape, self.sizes.key

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tf.TensorShape(self.shape)

    def rows(self) -> Any:
        """The replicas' rows one after the other."""
        if self._rows is None:
            self._rows = tf.concat(self._parts, 0)
        return self._rows

    def each(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        if self._parts is None:
            self._parts = tf.split(self._rows, self.sizes.tensor(), num=self.count)
        return self._parts

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return [self.rows(), self.sizes.tensor()]

    def sources(self) -> Any:
        """The tensors of which every form of it is made."""
        return self._parts if self._rows is None else [self._rows]

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        rows, sizes = tensors
        held = Sizes(self.sizes.key, lambda: sizes)
        return Ragged(self.count, self.shape[1:], held, rows=rows)

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value of `tensor` (of the trace), in placeholders."""
        sizes = tf.compat.v1.placeholder(tf.int32, [self.count])
        return self.like([functions.placeholder_like(tensor, self.shape), sizes])

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return functools.reduce(lambda a, b: reductions.add(a, b, leaf), self.each())


def of_parts(tensors: Sequence[Tensor], sizes: Sizes | None = None) -> Any:
    """The `Ragged` of N tensors with a first axis of unknown size; None if they have others.

    `sizes` are theirs, if they are known.
    """
    shapes = [part.shape for part in tensors]
    if any(shape.rank is None or not shape.rank for shape in shapes):
        return None
    rest = [shape.as_list()[1:] for shape in shapes]
    if None in rest[0] or any(other != rest[0] for other in rest):
        return None
    sizes = sizes or unknown(lambda: tf.stack(tf.shape_n(tensors))[:, 0])
    return Ragged(len(tensors), rest[0], sizes, parts=list(tensors))


def met(values: Any) -> Any:
    """The `Sizes` of several `Ragged` that are broadcast together; None if not known."""
    found = values[0].sizes
    for value in values[1:]:
        found = _met(found, value.sizes)
        if found is None:
            return None
    return found


def _met(one: Any, other: Any) -> Any:
    if other.key.factor != one.key.factor:
        return None
    if other.key.origins <= one.key.origins:
        return one
    if one.key.origins <= other.key.origins:
        return other
    key = Key(one.key.origins | other.key.origins, one.key.factor)
    return Sizes(key, lambda: _broadcast(one.tensor(), other.tensor()))


def _broadcast(one: Any, other: Any) -> Any:
    fits = tf.equal(one, other) | tf.equal(one, 1) | tf.equal(other, 1)
    said = ["Replicas' numbers of rows cannot be broadcast:", one, other]
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(fits), said)]):
        return tf.where(tf.equal(one, 1), other, one)


def spread(value: Any, sizes: Sizes) -> Any:
    """The rows of an `Ragged`, a replica's single row repeated if `sizes` says it has more."""
    if value.sizes.key == sizes.key:
        return value.rows()
    rows, own, wanted, owners = value.rows(), value.sizes.tensor(), sizes.tensor(), sizes.owners()
    found = tf.cond(
        tf.reduce_all(tf.equal(own, wanted)),
        lambda: tf.identity(rows),
        lambda: tf.gather(rows, _sources(own, wanted, owners)),
    )
    found.set_shape(rows.shape)
    return found


def gathered(value: Any, sizes: Sizes) -> Any:
    """The gradient of :func:`spread`: sums of the rows that one row was repeated to.

    Args:
      value: an `Ragged`.
      sizes: the `Sizes` it had.
    """
    if value.sizes.key == sizes.key:
        return value.rows()
    rows, own, owners = value.rows(), sizes.tensor(), value.sizes.owners()
    wanted = value.sizes.tensor()
    found = tf.cond(
        tf.reduce_all(tf.equal(own, wanted)),
        lambda: tf.identity(rows),
        lambda: tf.math.unsorted_segment_sum(
            rows, _sources(own, wanted, owners), tf.reduce_sum(own)
        ),
    )
    found.set_shape(rows.shape)
    return found


def _sources(own: Any, wanted: Any, owners: Any) -> Any:
    """For each row of `wanted` rows the one of `own` rows that it repeats."""
    place = tf.range(tf.reduce_sum(wanted)) - tf.gather(starts(wanted), owners)
    place = tf.where(tf.equal(tf.gather(own, owners), 1), tf.zeros_like(place), place)
    return tf.gather(starts(own), owners) + place


def equal(value: Any, sizes: Sizes) -> Any:
    """The rows of an `Ragged` that must have as many rows as `sizes` says."""
    if value.sizes.key == sizes.key:
        return value.rows()
    one, other = value.sizes.tensor(), sizes.tensor()
    said = ["Replicas' numbers of rows differ:", one, other]
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(tf.equal(one, other)), said)]):
        return tf.identity(value.rows())
