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
    """One `tensor` that has the same value in each of `count` replicas."""

    #: Number of `tensors()`.
    num_tensors = 1

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
        """The tensors from which every form of it is computed."""
        return [self.value]

    def tensors(self) -> Any:
        """The tensors that it consists of."""
        return [self.value]

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A batched value of the same layout that consists of `tensors`."""
        return Uniform(self.count, *tensors)

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([functions.placeholder_like(tensor)])

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return self.value.shape

    def per_replica(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        return [self.value] * self.count

    def rows(self) -> Any:
        """The value repeated along its first axis, like the rows of a `Batch`."""
        return tf.concat(self.per_replica(), 0)

    def stacked(self) -> Any:
        """The value repeated along a new first axis, like a stacked `Batch`."""
        return constants.repeated(self.value, self.count)

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return self.value * tf.cast(self.count, self.value.dtype)


class Constant(Uniform):
    """A uniform value whose numbers are known.

    An op is added, to the graph that was current, only when the tensor is needed: most constants
    are shapes and axes, of which rules need the numbers.

    Args:
      count: number of replicas.
      numbers: an array, or anything that NumPy converts to one.
      dtype: the ``DType``.
    """

    #: Its layout is that of any uniform value.
    layout_class = Uniform

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
        """None: constants need no control inputs."""
        return []

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return tf.TensorShape(self._numbers.shape)
