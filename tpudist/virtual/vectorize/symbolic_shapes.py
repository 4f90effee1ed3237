"""Symbolic shapes: what a program asks for of ragged values, numbers and numbers of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.vectorize import batched_values, ragged_values
from tpudist.virtual.vectorize.ragged_values import Sizes

if TYPE_CHECKING:
    from typing import Any, Callable, Sequence

    from tpudist.tfcompat.annotations import DType, Operation, Tensor
    from tpudist.virtual.annotations import BatchedValue


class Dims(batched_values.Batch):
    """Whole numbers per replica of which some are known: a shape, or one size.

    Args:
      count: number of replicas.
      entries: for each number an int or the `Sizes` that it is.
      dtype: int32 or int64.
      scalar: whether it is one number, not a vector.
      stacked: the tensor ``[count] + shape``, if it was made.
    """

    def __init__(
        self, count: int, entries: Any, dtype: DType, scalar: bool = False, stacked: Any = None
    ) -> None:
        super().__init__(count, [] if scalar else [len(entries)], stacked=stacked)
        self.entries = list(entries)
        self.scalar = scalar
        self.dtype = dtype

    @property
    def fit(self) -> tuple[Any, ...]:
        """What another value must have in common to be held in the same way."""
        return self.shape, [getattr(each, "key", each) for each in self.entries]

    def stacked(self) -> Any:
        """The numbers of all replicas along a new first axis."""
        if self._forms["stacked"] is None:
            columns = [self._column(entry) for entry in self.entries]
            made = columns[0] if self.scalar else tf.stack(columns, 1)
            self._forms["stacked"] = tf.cast(made, self.dtype)
        return self._forms["stacked"]

    def _column(self, entry: Any) -> Any:
        return entry.tensor() if isinstance(entry, Sizes) else tf.fill([self.count], entry)

    def rows(self) -> Any:
        """The replicas' numbers one after the other."""
        if self._forms["rows"] is None:
            self._forms["rows"] = tf.reshape(self.stacked(), [-1])
        return self._forms["rows"]

    def each(self) -> Sequence[Tensor]:
        """One tensor per replica, of which TensorFlow sees the numbers that are known."""
        if self._parts is None:
            sizes = [
                tf.unstack(tf.cast(entry.tensor(), self.dtype), self.count)
                if isinstance(entry, Sizes)
                else [tf.constant(entry, self.dtype)] * self.count
                for entry in self.entries
            ]
            self._parts = [row[0] if self.scalar else tf.stack(row) for row in zip(*sizes)]
        return self._parts

    def sources(self) -> Any:
        """The tensors of which every form of it is made."""
        return [entry.tensor() for entry in self.entries if isinstance(entry, Sizes)]

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        width = len(self.entries)
        stacked = tensors[0] if self.scalar else tf.reshape(tensors[0], [self.count, width])
        entries = [
            Sizes(entry.key, _taken(stacked, None if self.scalar else i))
            if isinstance(entry, Sizes)
            else entry
            for i, entry in enumerate(self.entries)
        ]
        return Dims(self.count, entries, self.dtype, self.scalar, stacked)


def _taken(stacked: Any, column: Any) -> Any:
    return lambda: tf.cast(stacked if column is None else stacked[:, column], tf.int32)


class Axes(batched_values.PerReplicaTensors):
    """What ``BroadcastGradientArgs`` gives: the axes over which a gradient is summed.

    Args:
      count: number of replicas.
      target: the entries of the shape that the gradient has after that.
      make: makes the axes of each replica, a list of tensors.
    """

    def __init__(self, count: int, target: Any, make: Callable[..., Any]) -> None:
        super().__init__(count)
        self.target = target
        self._make = make

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        if not self._tensors:
            self._tensors = self._make()
        return self._tensors

    each = tensors

    def sources(self) -> Any:
        """Nothing has to be computed for it until it is asked for."""
        return list(self._tensors)

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        return batched_values.PerReplicaTensors(self.count, tensors)


def entries(batched: Any) -> Any:
    """The ints and `Sizes` of a vector or number; None if they are not known."""
    if isinstance(batched, Dims):
        return batched.entries
    if isinstance(batched, batched_values.Uniform):
        value = functions.static_value(batched.value)
        if value is not None and value.dtype.kind in "iu" and value.ndim < 2:
            return [int(each) for each in value.reshape([-1])]
    return None


def of_value(batched: Any) -> Any:
    """The entries of the shape of a batched value; None if more of it is unknown."""
    if isinstance(batched, ragged_values.Ragged):
        return [batched.sizes] + batched.shape[1:]
    if isinstance(batched, batched_values.Batch):
        return list(batched.shape)
    if isinstance(batched, (batched_values.Uniform, batched_values.ReplicaSum)):
        shape = batched.value.shape
        return shape.as_list() if shape.is_fully_defined() else None
    return None


def is_one(one: Any, other: Any) -> bool:
    """Whether two entries are the same number."""
    if isinstance(one, Sizes) and isinstance(other, Sizes):
        return one.key == other.key
    return not isinstance(one, Sizes) and not isinstance(other, Sizes) and one == other


def stand_in(batched: Any, dtype: DType) -> Any:
    """A tensor in the current graph of which TensorFlow infers what is known of `batched`."""
    held = [
        tf.compat.v1.placeholder(dtype, []) if isinstance(entry, Sizes) else entry
        for entry in batched.entries
    ]
    return held[0] if batched.scalar else tf.stack([tf.cast(each, dtype) for each in held])


#: Ops whose output has the shape that their first input says.
_SHAPED = """ParameterizedTruncatedNormal RandomStandardNormal RandomUniform RandomUniformInt
StatelessRandomBinomial StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomUniform
StatelessRandomUniformFullInt StatelessRandomUniformInt StatelessRandomUniformIntV2
StatelessRandomUniformV2 StatelessTruncatedNormal StatelessTruncatedNormalV2
TruncatedNormal""".split()


def of_output(op: Operation, given: Any) -> Any:
    """The `Sizes` of the rows of the output of `op`; None if they are not known."""
    found = entries(given[0]) if op.type in _SHAPED else None
    return found[0] if found and isinstance(found[0], Sizes) else None
