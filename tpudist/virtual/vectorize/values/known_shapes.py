"""Shapes and small integers, as far as they are known while batching.

Gradients compute with shapes (``BroadcastGradientArgs``). TensorFlow evaluates such ops when it
optimises a graph, which is too late for a batching rule. In a symbolic shape ints stand beside
the numbers of rows of ragged values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions, made_ops
from tpudist.virtual.vectorize.values import batched_values, ragged_values
from tpudist.virtual.vectorize.values.ragged_values import Sizes

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DType, Fn, Operation, Shape, Tensor
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


class Dims(batched_values.Batch):
    """A shape, or one size of it, whose numbers of rows differ between replicas.

    Args:
      count: number of replicas.
      entries: for each number an int, or a `Sizes` if it is a number of rows.
      dtype: int32 or int64.
      scalar: whether it is one number, not a vector.
      stacked: the tensor ``[count] + shape``, if there is one already.
    """

    def __init__(
        self, count: int, entries: Any, dtype: DType, scalar: bool = False, stacked: object = None
    ) -> None:
        super().__init__(count, [] if scalar else [len(entries)], stacked=stacked)
        self.entries = list(entries)
        self.scalar = scalar
        self.dtype = dtype

    @property
    def layout_key(self) -> tuple[Any, ...]:
        """Equal for two values of this class with the same layout."""
        return self.shape, [getattr(entry, "key", entry) for entry in self.entries]

    def stacked(self) -> Tensor:
        """The numbers of all replicas along a new first axis."""
        if self._forms["stacked"] is None:
            columns = [
                entry.tensor() if isinstance(entry, Sizes) else tf.fill([self.count], entry)
                for entry in self.entries
            ]
            numbers = columns[0] if self.scalar else tf.stack(columns, 1)
            self._forms["stacked"] = tf.cast(numbers, self.dtype)
        return self._forms["stacked"]

    def rows(self) -> Tensor:
        """The replicas' numbers one after the other."""
        if self._forms["rows"] is None:
            self._forms["rows"] = tf.reshape(self.stacked(), [-1])
        return self._forms["rows"]

    def per_replica(self) -> Sequence[Tensor]:
        """One tensor per replica; TensorFlow can infer the numbers that are known."""
        if self._parts is None:
            sizes = [
                tf.unstack(tf.cast(entry.tensor(), self.dtype), self.count)
                if isinstance(entry, Sizes)
                else [tf.constant(entry, self.dtype)] * self.count
                for entry in self.entries
            ]
            self._parts = [row[0] if self.scalar else tf.stack(row) for row in zip(*sizes)]
        return self._parts

    def sources(self) -> list[Tensor]:
        """The tensors from which every form of it is computed."""
        return [entry.tensor() for entry in self.entries if isinstance(entry, Sizes)]

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same entries, of the tensor of all replicas' numbers."""
        width = len(self.entries)
        table = tf.reshape(tensors[0], [self.count, width])
        entries = [
            Sizes(entry.key, lambda i=i: tf.cast(table[:, i], tf.int32))
            if isinstance(entry, Sizes)
            else entry
            for i, entry in enumerate(self.entries)
        ]
        stacked = tensors[0] if self.scalar else table
        return Dims(self.count, entries, self.dtype, self.scalar, stacked)


class Axes(batched_values.PerReplicaTensors):
    """Axes over which a gradient is summed to `target`; ``make()`` gives a tensor per replica."""

    def __init__(self, count: int, target: object, make: Fn) -> None:
        super().__init__(count)
        self.target = target
        self._make = make

    def tensors(self) -> list[Tensor]:
        """The tensors that it consists of."""
        if not self._tensors:
            self._tensors = self._make()
        return self._tensors

    per_replica = tensors

    def sources(self) -> list[Tensor]:
        """The tensors that were computed so far; before `tensors()` is called, none."""
        return list(self._tensors)

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The axes as plain tensors, one per replica."""
        return batched_values.PerReplicaTensors(self.count, tensors)


def entries(batched: object) -> Any:
    """The ints and `Sizes` of an integer vector or scalar; None if they are not known."""
    if isinstance(batched, Dims):
        return batched.entries
    if isinstance(batched, batched_values.Uniform):
        value = functions.static_value(batched.value)
        if value is not None and value.dtype.kind in "iu" and value.ndim < 2:
            return [int(number) for number in value.reshape([-1])]
    return None


def shape_entries(batched: object) -> Any:
    """The entries of the shape of a batched value; None if they are not known."""
    if isinstance(batched, ragged_values.Ragged):
        return [batched.sizes] + batched.shape[1:]
    if isinstance(batched, batched_values.Batch):
        return list(batched.shape)
    if isinstance(batched, (batched_values.Uniform, batched_values.ReplicaSum)):
        shape = batched.value.shape
        return shape.as_list() if shape.is_fully_defined() else None
    return None


#: Ops whose first input is the shape of their output.
_SHAPE_FROM_INPUT = """ParameterizedTruncatedNormal RandomStandardNormal RandomUniform
RandomUniformInt StatelessRandomBinomial StatelessRandomNormal StatelessRandomNormalV2
StatelessRandomUniform StatelessRandomUniformFullInt StatelessRandomUniformInt
StatelessRandomUniformIntV2 StatelessRandomUniformV2 StatelessTruncatedNormal
StatelessTruncatedNormalV2 TruncatedNormal""".split()


def output_sizes(op: Operation, inputs: Any) -> Sizes | None:
    """The `Sizes` of the first output of `op`, if its inputs have them; else None."""
    if op.type in ("FusedBatchNormV3", "FusedBatchNormGradV3"):  # as many rows as its images
        return next((v.sizes for v in inputs if isinstance(v, ragged_values.Ragged)), None)
    numbers = entries(inputs[0]) if op.type in _SHAPE_FROM_INPUT else None
    numbers = entries(inputs[1]) if op.type == "Reshape" else numbers
    return numbers[0] if numbers and isinstance(numbers[0], Sizes) else None


#: The most elements of a constant that is evaluated here; larger ones are left to TensorFlow.
_MAX_ELEMENTS = 1024


def constant_outputs(op: Operation, inputs: Any) -> list[Any] | None:
    """The outputs of `op`, if it is a small constant or computes small integers; or None."""
    tensors, is_constant = [*op.inputs, *op.outputs], op.type == "Const"
    for tensor in tensors:
        dtype, size = tensor.dtype, tensor.shape.num_elements() or 0
        is_number = dtype.is_integer or dtype.is_bool or is_constant and dtype.is_floating
        if not is_number or size > _MAX_ELEMENTS:
            return None
    if is_constant:
        return None if op.control_inputs else [functions.static_value(op.outputs[0])]
    if not inputs:
        return None
    values = [batched.constant() for batched in inputs]
    if any(value is None or np.size(value) > _MAX_ELEMENTS for value in values):
        return None
    return made_ops.evaluated(op, values)


def output_shapes(op: Operation, inputs: Any) -> list[Shape]:
    """The static shapes of an op's outputs in one replica, as traced or inferred."""
    traced = [tensor.shape for tensor in op.outputs]
    opaque = any(tensor.dtype in (tf.resource, tf.variant) for tensor in op.inputs)
    if all(shape.is_fully_defined() for shape in traced) or functions.calls_functions(op) or opaque:
        return traced
    are_ragged = any(isinstance(value, ragged_values.Ragged) for value in inputs)
    if are_ragged and all(shape.rank and shape[1:].is_fully_defined() for shape in traced):
        return traced
    with functions.FuncGraph("shapes").as_default():
        stand_ins = [_stand_in(tensor, batched) for tensor, batched in zip(op.inputs, inputs)]
        copy = functions.copy_op(op, stand_ins)
    return [tensor.shape for tensor in copy.outputs]


def _stand_in(tensor: Tensor, batched: Any) -> Tensor:
    """A tensor with the static value and shape of one replica's `tensor`."""
    if isinstance(batched, Dims):  # TensorFlow infers the numbers that are known
        numbers = [
            tf.compat.v1.placeholder(tensor.dtype, [])
            if isinstance(entry, Sizes)
            else tf.constant(entry, tensor.dtype)
            for entry in batched.entries
        ]
        return numbers[0] if batched.scalar else tf.stack(numbers)
    if isinstance(batched, batched_values.Uniform):
        value = batched.constant()
        if value is not None:
            return tf.constant(value, tensor.dtype)
    return tf.compat.v1.placeholder(tensor.dtype, batched.static_shape(tensor))
