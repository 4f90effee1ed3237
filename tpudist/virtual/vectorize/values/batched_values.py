"""Batched values: a batched value stands for one tensor of a trace in all N replicas.

For a tensor of shape ``[b, ...]`` in the trace it is one of

* `Uniform`: one tensor ``[b, ...]``, the same for every replica (`Constant`: known numbers);
* `Batch`: one tensor ``[N * b, ...]`` (its rows) or ``[N, b, ...]`` (stacked),
  replica after replica: the same memory under two shapes;
* `ReplicaSum`: one tensor ``[b, ...]``, the sum over the replicas;
* `PerReplicaTensors`: N tensors;
* `StackedList`: one tensor list, whose elements are the stacked elements of N lists;
* `optionals.Optionals`: one optional, whose value is the stacked values of N optionals;
* `ragged_values.Ragged`: one tensor with the rows of all replicas, whose numbers only the run
  knows.

Converting one form to another adds ops to the current graph; the result is kept. The layout of
a batched value is its class and what else is fixed without its tensors (shapes, the number of
replicas). A batched value without tensors serves as a layout: see `placeholders` and
`with_tensors`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions, graphs
from tpudist.virtual import constants, reductions
from tpudist.virtual.vectorize.values import optionals, ragged_values, tensor_lists
from tpudist.virtual.vectorize.values.tensor_lists import NotBatchable
from tpudist.virtual.vectorize.values.uniform_values import Constant, Uniform  # noqa: F401 (re-exported)

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import DType, Tensor
    from tpudist.virtual.annotations import BatchedValue, Sizes


class PerReplicaTensors:
    """`count` tensors, one per replica."""

    def __init__(self, count: int, tensors: Sequence[Tensor] = ()) -> None:
        self.count = count
        self._tensors = list(tensors)

    @property
    def num_tensors(self) -> int:
        """Number of `tensors()`."""
        return self.count

    def tensors(self) -> Any:
        """The tensors that it consists of."""
        return self._tensors

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A batched value of the same layout that consists of `tensors`."""
        return PerReplicaTensors(self.count, tensors)

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([functions.placeholder_like(tensor) for _ in range(self.count)])

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return tensor.shape

    def per_replica(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        return self._tensors

    def rows(self) -> Any:
        """The replicas' values one after the other along their first axis."""
        return tf.concat(self._tensors, 0)

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return functools.reduce(
            lambda total, part: reductions.add(total, part, leaf), self._tensors
        )


class ReplicaSum:
    """The sum over the replicas, where only the sum is needed."""

    #: Number of `tensors()`.
    num_tensors = 1

    def __init__(self, tensor: Tensor | None = None) -> None:
        self.value: Any = tensor

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return self.value.shape

    def tensors(self) -> Any:
        """The tensors that it consists of."""
        return [self.value]

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A batched value of the same layout that consists of `tensors`."""
        return ReplicaSum(*tensors)

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([functions.placeholder_like(tensor)])

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return self.value


class StackedList:
    """One tensor list for all replicas, whose elements have the shape ``[N] + shape``.

    Args:
      count: number of replicas.
      shape: the shape of one replica's elements, a list of ints.
      dtype: the type of the elements.
      tensor: the list.
    """

    #: Number of `tensors()`.
    num_tensors = 1

    def __init__(self, count: int, shape: Any, dtype: DType, tensor: Tensor | None = None) -> None:
        self.count = count
        self.shape = list(shape)
        self.dtype = dtype
        self.value = tensor

    def tensors(self) -> Any:
        """The tensors that it consists of."""
        return [self.value]

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A batched value of the same layout that consists of `tensors`."""
        return StackedList(self.count, self.shape, self.dtype, *tensors)

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([tf.compat.v1.placeholder(tf.variant, [])])

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return tensor.shape

    def per_replica(self) -> Any:
        """One list per replica."""
        return tensor_lists.per_replica(self.value, self.count, self.shape, self.dtype)


class Batch:
    """The values of all replicas, of equal shapes, in one tensor.

    Args:
      count: number of replicas.
      shape: the shape of one replica's value, a list of ints.
      rows: the tensor ``[count * shape[0]] + shape[1:]``; or
      stacked: the tensor ``[count] + shape``; or
      flat: a tensor of the same numbers in the same order, in another shape; or
      parts: one tensor per replica, which may be given in addition to `rows`.
    """

    #: Number of `tensors()`.
    num_tensors = 1

    def __init__(
        self,
        count: int,
        shape: Any,
        rows: Any = None,
        stacked: Any = None,
        parts: Any = None,
        flat: Any = None,
    ) -> None:
        self.count = count
        self.shape = list(shape)
        self._forms = {"rows": rows, "stacked": stacked, "flat": flat}
        self._parts = parts
        self._stacked_to_rank: dict[Any, Any] = {}

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape that `tensor`, of the trace, has in one replica."""
        return tf.TensorShape(self.shape)

    def rows(self) -> Any:
        """The replicas' values one after the other along their first axis."""
        return self._computed("rows", self._rows_shape())

    def stacked(self) -> Any:
        """The replicas' values along a new first axis."""
        return self._computed("stacked", [self.count] + self.shape)

    def existing_tensor(self) -> Any:
        """A tensor of all values, in rows, stacked or flat; None if there are only parts."""
        return next((tensor for tensor in self._forms.values() if tensor is not None), None)

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

    def _computed(self, form: Any, shape: Any) -> Any:
        """The tensor of `form`, "rows" or "stacked", which has `shape`; kept once computed."""
        if self.existing_tensor() is None:
            tensor = tf.stack(self._parts) if form == "stacked" else tf.concat(self._parts, 0)
            self._forms[form] = tensor
        if self._forms[form] is None:
            self._forms[form] = constants.reshape(self.existing_tensor(), shape)
        return self._forms[form]

    def stacked_to_rank(self, rank: int) -> Any:
        """`stacked()` with `rank` axes after the first one; the inserted axes have size 1."""
        if rank not in self._stacked_to_rank:
            shape = [self.count] + [1] * (rank - len(self.shape)) + self.shape
            self._stacked_to_rank[rank] = constants.reshape(self.stacked(), shape)
        return self._stacked_to_rank[rank]

    def preferred_form(self) -> Any:
        """The form that needs no op; if there is none, "rows", or "stacked" up to rank 1."""
        for form in ("rows", "stacked"):
            if self._forms[form] is not None:
                return form
        return "rows" if len(self.shape) > 1 else "stacked"

    def in_form(self, form: Any) -> Any:
        """The tensor of `form`, "rows" or "stacked"."""
        return self.rows() if form == "rows" else self.stacked()

    def tensors(self) -> Any:
        """The tensors that it consists of."""
        return [self.in_form(self._layout_form()[0])]

    def sources(self) -> Any:
        """The tensors from which every form of it is computed."""
        tensor = self.existing_tensor()
        return self._parts if tensor is None else [tensor]

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A batched value of the same layout that consists of `tensors`."""
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
        return tf.reduce_sum(self.stacked(), constants.constant(0))


def ops(batched: Any) -> list[Any]:
    """The ops that compute a batched value, before any form of it is derived."""
    return [tensor.op for tensor in getattr(batched, "sources", batched.tensors)()]


def from_replicas(
    tensors: Sequence[Tensor], tensor: Tensor, sizes: Sizes | None = None
) -> BatchedValue:
    """The batched value of N tensors, one per replica, that stand for `tensor` of the trace.

    `sizes` is the `ragged_values.Sizes` of their rows, if it is known.
    """
    if all(part is tensors[0] for part in tensors):
        return Uniform(len(tensors), tensors[0])
    if tensor.dtype in (tf.resource, tf.variant):
        return PerReplicaTensors(len(tensors), tensors)
    if any(
        not part.shape.is_fully_defined() or part.shape.as_list() != tensors[0].shape.as_list()
        for part in tensors
    ):
        return ragged_values.from_replicas(tensors, sizes) or PerReplicaTensors(
            len(tensors), tensors
        )
    rows = graphs.divided(tensors)
    return Batch(len(tensors), tensors[0].shape.as_list(), rows, parts=list(tensors))


def common_layout(one: Any, other: Any) -> Any:
    """A batched value whose layout both can be converted to.

    Raises:
      NotBatchable: there is no such layout.
    """
    if isinstance(one, Uniform):
        return other
    if isinstance(other, Uniform) or same_layout(one, other):
        return one
    if isinstance(one, ReplicaSum) or isinstance(other, ReplicaSum):
        return one if isinstance(one, ReplicaSum) else other
    if isinstance(one, StackedList) or isinstance(other, StackedList):
        raise NotBatchable("lists of tensors of several shapes")
    return PerReplicaTensors(one.count)


def _same_layout_key(one: Any, other: Any) -> bool:
    return _layout_key(one) == _layout_key(other)


def _layout_key(batched: Any) -> Any:
    """A key that is equal for two values of one class with the same layout."""
    return getattr(batched, "layout_key", None) or getattr(batched, "shape", None)


def same_layout(one: Any, other: Any) -> bool:
    """Whether two batched values have the same layout."""
    return _layout_class(one) is _layout_class(other) and _same_layout_key(one, other)


def _layout_class(value: Any) -> Any:
    return getattr(value, "layout_class", type(value))


def with_layout(batched: Any, layout: Any) -> Any:
    """`batched`, converted to the layout of `layout`."""
    if same_layout(batched, layout):
        return batched
    if isinstance(layout, optionals.Optionals):
        return optionals.with_layout(batched, layout)
    if isinstance(layout, ReplicaSum):
        return ReplicaSum(batched.total())
    if isinstance(layout, PerReplicaTensors):
        return PerReplicaTensors(layout.count, batched.per_replica())
    if isinstance(layout, StackedList):
        return layout.with_tensors([tensor_lists.of_any_shape(batched.value)])
    if not hasattr(layout, "shape"):
        raise NotBatchable("replicas do different numbers of rounds with lists")
    if isinstance(batched, Uniform):
        return Batch(layout.count, layout.shape, stacked=batched.stacked())
    return Batch(layout.count, layout.shape, parts=batched.per_replica())
