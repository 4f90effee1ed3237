"""Batched values: a batched value stands for one tensor of a trace in all N replicas.

For a tensor of shape ``[b, ...]`` in the trace it is one of

* `Uniform`: one tensor ``[b, ...]``, the same for every replica (`Constant`: known numbers);
* `Batch`: one tensor ``[N * b, ...]`` (its rows) or ``[N, b, ...]`` (stacked),
  replica after replica: the same memory under two shapes;
* `ReplicaSum`: one tensor ``[b, ...]``, the sum over the replicas;
* `PerReplicaTensors`: N tensors;
* `layouts.StackedList`: one tensor list, whose elements are the stacked elements of N lists;
* `layouts.Optionals`: one optional, whose value is the stacked values of N optionals;
* `ragged_values.Ragged`: one tensor with the rows of all replicas, whose numbers only the run
  knows.

Converting one form to another adds ops to the current graph; the result is kept. The layout of
a batched value is its class and what else is fixed without its tensors (shapes, the number of
replicas); :mod:`layouts` compares and converts them.
"""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions, made_ops
from tpudist.virtual import reductions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DType, Shape, Tensor


class NotBatchable(Exception):
    """An op cannot be batched; it, or the op that calls its function, is copied per replica."""


class BatchedValue:
    """The values of one tensor of a trace in all replicas; without tensors, a layout."""

    num_tensors: Any = 1
    layout_class: Any = None
    _tensors: list[Any]

    @property
    def value(self) -> Tensor:
        """The tensor, of a value that consists of one."""
        return self._tensors[0]

    @property
    def layout_key(self) -> Any:
        """Equal for two values of one class with the same layout."""
        return getattr(self, "shape", None)

    def tensors(self) -> list[Tensor]:
        """The tensors that it consists of."""
        return self._tensors

    def sources(self) -> list[Tensor]:
        """The tensors from which every form of it is computed."""
        return self.tensors()

    def per_replica(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        raise NotBatchable("only the sum over the replicas is known")

    def rows(self) -> Tensor:
        """The replicas' values one after the other along their first axis."""
        return tf.concat(self.per_replica(), 0)

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return functools.reduce(lambda a, b: reductions.add(a, b, leaf), self.per_replica())

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A batched value of the same layout that consists of `tensors`."""
        other = copy.copy(self)
        other._tensors = list(tensors)
        return other

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([functions.placeholder_like(own) for own in self.tensors()])

    def static_shape(self, tensor: Tensor) -> Shape:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return tensor.shape


class Uniform(BatchedValue):
    """One `tensor` that has the same value in each of `count` replicas."""

    def __init__(self, count: int, tensor: Tensor | None = None) -> None:
        self.count = count
        self._tensors = [tensor]

    def constant(self) -> Any:
        """The value of the tensor as an array if it is known while tracing, or None."""
        return functions.static_value(self.value)

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([functions.placeholder_like(tensor)])

    def static_shape(self, tensor: Tensor) -> Shape:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return self.value.shape

    def per_replica(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        return [self.value] * self.count

    def stacked(self) -> Tensor:
        """The value repeated along a new first axis, like a stacked `Batch`."""
        return made_ops.repeated(self.value, self.count)

    def in_form(self, form: str) -> Tensor:
        """The tensor itself, which ops broadcast to the others in `form`."""
        return self.value

    def stacked_to_rank(self, rank: int) -> Tensor:
        """The tensor itself, which ops broadcast to stacked ones of `rank`."""
        return self.value

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return self.value * tf.cast(self.count, self.value.dtype)


class Constant(Uniform):
    """A uniform value whose numbers are known; an op is added only when the tensor is needed."""

    #: Its layout is that of any uniform value.
    layout_class = Uniform

    def __init__(self, count: int, numbers: object, dtype: DType) -> None:
        super().__init__(count)
        self._numbers = np.array(numbers, dtype.as_numpy_dtype)
        self._dtype = dtype
        self._graph = tf.compat.v1.get_default_graph()

    @property
    def value(self) -> Tensor:
        """The tensor."""
        if self._tensors[0] is None:
            with self._graph.as_default():
                self._tensors[0] = made_ops.constant(self._numbers, self._dtype)
        return self._tensors[0]

    def tensors(self) -> list[Tensor]:
        """The tensor, in a list."""
        return [self.value]

    def with_tensors(self, tensors: Sequence[Tensor]) -> Uniform:
        """A uniform value of `tensors`, whose numbers are not known."""
        return Uniform(self.count, *tensors)

    def constant(self) -> Any:
        """The numbers, an array."""
        return self._numbers

    def sources(self) -> list[Tensor]:
        """No tensors: constants need no control inputs."""
        return []

    def static_shape(self, tensor: Tensor) -> Shape:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return tf.TensorShape(self._numbers.shape)


class PerReplicaTensors(BatchedValue):
    """`count` tensors, one per replica."""

    def __init__(self, count: int, tensors: Sequence[Tensor] = ()) -> None:
        self.count = count
        self._tensors = list(tensors)

    @property
    def num_tensors(self) -> int:
        """Number of `tensors()`."""
        return self.count

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([functions.placeholder_like(tensor) for _ in range(self.count)])

    def per_replica(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        return self._tensors


class ReplicaSum(BatchedValue):
    """The sum over the replicas, where only the sum is needed."""

    def __init__(self, tensor: Tensor | None = None) -> None:
        self._tensors = [tensor]

    def static_shape(self, tensor: Tensor) -> Shape:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return self.value.shape

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([functions.placeholder_like(tensor)])

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return self.value


class Batch(BatchedValue):
    """The values of all replicas, of equal shapes, in one tensor.

    Args:
      count: number of replicas.
      shape: the shape of one replica's value, a list of ints.
      rows: the tensor ``[count * shape[0]] + shape[1:]``; or
      stacked: the tensor ``[count] + shape``; or
      flat: a tensor of the same numbers in the same order, in another shape; or
      parts: one tensor per replica, which may be given in addition to `rows`.
    """

    def __init__(self, count: int, shape: Any, parts: Any = None, **forms: Any) -> None:
        self.count = count
        self.shape = list(shape)
        self._forms = {"rows": None, "stacked": None, "flat": None, **forms}
        self._parts = parts
        self._stacked_to_rank: dict[Any, Any] = {}

    def static_shape(self, tensor: Tensor) -> Shape:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return tf.TensorShape(self.shape)

    def rows(self) -> Tensor:
        """The replicas' values one after the other along their first axis."""
        return self._computed("rows", self._rows_shape())

    def stacked(self) -> Tensor:
        """The replicas' values along a new first axis."""
        return self._computed("stacked", [self.count] + self.shape)

    def existing_tensor(self) -> Tensor | None:
        """A tensor of all values, in rows, stacked or flat; None if there are only parts."""
        return next((tensor for tensor in self._forms.values() if tensor is not None), None)

    def any_form(self) -> Tensor:
        """A tensor of all values, in the form that needs the fewest ops."""
        existing = self.existing_tensor()
        return self.in_form(self.preferred_form()) if existing is None else existing

    def has_expected_shape(self) -> bool:
        """Whether its tensors have the shapes of their forms, as far as these are static."""
        expected = {"rows": self._rows_shape(), "stacked": [self.count] + self.shape}
        for form, tensor in self._forms.items():
            if tensor is None or not tensor.shape.is_fully_defined():
                continue
            if form == "flat" and tensor.shape.num_elements() != np.prod(expected["stacked"]):
                return False
            if form != "flat" and tensor.shape.as_list() != expected[form]:
                return False
        return True

    def _rows_shape(self) -> Any:
        return [self.count * n for n in self.shape[:1]] + self.shape[1:]

    def _computed(self, form: Any, shape: object) -> Tensor:
        """The tensor of `form`, "rows" or "stacked", which has `shape`; kept once computed."""
        existing = self.existing_tensor()
        if existing is None:
            existing = tf.stack(self._parts) if form == "stacked" else tf.concat(self._parts, 0)
            self._forms[form] = existing
        if self._forms[form] is None:
            self._forms[form] = made_ops.reshape(existing, shape)
        return self._forms[form]

    def stacked_to_rank(self, rank: int) -> Tensor:
        """`stacked()` with `rank` axes after the first one; the inserted axes have size 1."""
        if rank not in self._stacked_to_rank:
            shape = [self.count] + [1] * (rank - len(self.shape)) + self.shape
            self._stacked_to_rank[rank] = made_ops.reshape(self.stacked(), shape)
        return self._stacked_to_rank[rank]

    def preferred_form(self) -> str:
        """The form that needs no op; if there is none, "rows", or "stacked" up to rank 1."""
        usual = "rows" if len(self.shape) > 1 else "stacked"
        known = (form for form in ("rows", "stacked") if self._forms[form] is not None)
        return next(known, usual)

    def in_form(self, form: str) -> Tensor:
        """The tensor of `form`, "rows" or "stacked"."""
        return self.rows() if form == "rows" else self.stacked()

    def tensors(self) -> list[Tensor]:
        """The tensors that it consists of."""
        return [self.in_form(self._layout_form()[0])]

    def sources(self) -> list[Tensor]:
        """The tensors from which every form of it is computed."""
        tensor = self.existing_tensor()
        return self._parts if tensor is None else [tensor]

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A batch of the same shape, of its one tensor."""
        return Batch(self.count, self.shape, **{self._layout_form()[0]: tensors[0]})

    def _layout_form(self) -> tuple[Any, ...]:
        """The form that crosses function boundaries, and the shape of its tensor."""
        if len(self.shape) > 1:
            return "rows", self._rows_shape()
        return "stacked", [self.count] + self.shape

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([functions.placeholder_like(tensor, self._layout_form()[1])])

    def per_replica(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        if self._parts is None:
            self._parts = tf.unstack(self.stacked())
        return self._parts

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return tf.reduce_sum(self.stacked(), made_ops.constant(0))


def tensors_of(values: Iterable[BatchedValue]) -> list[Tensor]:
    """The tensors that batched values consist of."""
    return [tensor for value in values for tensor in value.tensors()]
