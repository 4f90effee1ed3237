"""Uniform values: a tensor of a trace that is the same for every replica."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual import constants

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import DType, Tensor
    from tpudist.virtual.annotations import BatchedValue


class Uniform:
    """The same `tensor` for each of `count` replicas."""

    #: How many tensors hold it.
    width = 1

    def __init__(self, count: int, tensor: Tensor | None = None) -> None:
        self._tensor = tensor
        self.count = count

    @property
    def value(self) -> Any:
        """The tensor."""
        return self._tensor

    def constant(self) -> Any:
        """The value of the tensor as an array if it is known while tracing, or None."""
        return functions.static_value(self.value)

    def sources(self) -> Any:
        """The tensors of which every form of it is made."""
        return [self.value]

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return [self.value]

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        return Uniform(self.count, *tensors)

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value of `tensor` (of the trace), in placeholders."""
        return self.like([functions.placeholder_like(tensor)])

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return self.value.shape

    def each(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        return [self.value] * self.count

    def rows(self) -> Any:
        """The value repeated along its first axis, like the rows of a `Batch`."""
        return tf.concat(self.each(), 0)

    def stacked(self) -> Any:
        """The value repeated along a new first axis, like a stacked `Batch`."""
        return constants.repeated(self.value, self.count)

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return self.value * tf.cast(self.count, self.value.dtype)


class Constant(Uniform):
    """The same numbers for each of `count` replicas, in the current graph.

    They become an op if one takes them: most are shapes and axes, which rules know.

    Args:
      count: number of replicas.
      numbers: an array, or what makes one.
      dtype: the ``DType``.
    """

    #: It is held as any uniform value.
    held_like = Uniform

    def __init__(self, count: int, numbers: Any, dtype: DType) -> None:
        super().__init__(count)
        self._numbers = np.array(numbers, dtype.as_numpy_dtype)
        self._dtype = dtype
        self._graph = tf.compat.v1.get_default_graph()

    @property
    def value(self) -> Any:
        """The tensor."""
        if self._tensor is None:
            with self._graph.as_default():
                self._tensor = constants.constant(self._numbers, self._dtype)
        return self._tensor

    def constant(self) -> Any:
        """The numbers, an array."""
        return self._numbers

    def sources(self) -> Any:
        """The tensors of which every form of it is made: none that has to be waited for."""
        return []

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tf.TensorShape(self._numbers.shape)
