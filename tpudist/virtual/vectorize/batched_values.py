"""Batched values: what stands for one tensor of a trace, for all N replicas at once.

A tensor of shape ``[b, ...]`` in the trace is, for N replicas, one of

* `Uniform`: one tensor ``[b, ...]``, the same for every replica (`Constant`: known numbers);
* `Batch`: one tensor ``[N * b, ...]`` (its rows) or ``[N, b, ...]`` (stacked),
  replica after replica: the same memory under two shapes;
* `ReplicaSum`: one tensor ``[b, ...]``, the sum over the replicas;
* `PerReplicaTensors`: N tensors;
* `Lists`: one tensor list, whose elements are the stacked elements of N lists;
* `optionals.Optionals`: one optional, whose value is the stacked values of N optionals;
* `ragged_values.Ragged`: one tensor with the rows of all replicas, of unknown numbers.

Conversions add ops to the current graph, once. A batched value without tensors is an
outline, from which :meth:`held` makes placeholders.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions, graphs
from tpudist.virtual import constants, reductions
from tpudist.virtual.vectorize import optionals, ragged_values, tensor_lists
from tpudist.virtual.vectorize.tensor_lists import NotBatchable
from tpudist.virtual.vectorize.uniform_values import Constant, Uniform  # noqa: F401 (one name for all)

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
    def width(self) -> int:
        """How many tensors hold it."""
        return self.count

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return self._tensors

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        return PerReplicaTensors(self.count, tensors)

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value of `tensor` (of the trace), in placeholders."""
        return self.like([functions.placeholder_like(tensor) for _ in range(self.count)])

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tensor.shape

    def each(self) -> Sequence[Tensor]:
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
    """The sum over all replicas, where only the sum is needed."""

    #: How many tensors hold it.
    width = 1

    def __init__(self, tensor: Tensor | None = None) -> None:
        self.value: Any = tensor

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return self.value.shape

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return [self.value]

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        return ReplicaSum(*tensors)

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value of `tensor` (of the trace), in placeholders."""
        return self.like([functions.placeholder_like(tensor)])

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return self.value


class Lists:
    """One tensor list for all replicas: each element is ``[N] + shape``.

    Args:
      count: number of replicas.
      shape: the shape of one replica's elements, a list of ints.
      dtype: the type of the elements.
      tensor: the list.
    """

    #: How many tensors hold it.
    width = 1

    def __init__(self, count: int, shape: Any, dtype: DType, tensor: Tensor | None = None) -> None:
        self.count = count
        self.shape = list(shape)
        self.dtype = dtype
        self.value = tensor

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return [self.value]

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        return Lists(self.count, self.shape, self.dtype, *tensors)

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value of `tensor` (of the trace), in placeholders."""
        return self.like([tf.compat.v1.placeholder(tf.variant, [])])

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tensor.shape

    def each(self) -> Any:
        """One list per replica."""
        return tensor_lists.each(self.value, self.count, self.shape, self.dtype)


class Batch:
    """The values of all replicas in one tensor.

    Args:
      count: number of replicas.
      shape: the shape of one replica's value, a list of ints.
      rows: the tensor ``[count * shape[0]] + shape[1:]``; or
      stacked: the tensor ``[count] + shape``; or
      flat: a tensor of the same numbers under another shape; or
      parts: one tensor per replica, with `rows` if these are known.
    """

    #: How many tensors hold it.
    width = 1

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
        self._aligned: dict[Any, Any] = {}

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tf.TensorShape(self.shape)

    def rows(self) -> Any:
        """The replicas' values one after the other along their first axis."""
        return self._in_form("rows", self._rows_shape())

    def stacked(self) -> Any:
        """The replicas' values along a new first axis."""
        return self._in_form("stacked", [self.count] + self.shape)

    def flat(self) -> Any:
        """The values under the shape that is at hand; None if they are in parts."""
        return next((held for held in self._forms.values() if held is not None), None)

    def fits(self) -> bool:
        """Whether the tensors at hand have the shapes that their forms say, as far as known."""
        forms = {"rows": self._rows_shape(), "stacked": [self.count] + self.shape}
        for form, held in self._forms.items():
            if held is None or not held.shape.is_fully_defined():
                continue
            if form == "flat" and held.shape.num_elements() != np.prod(forms["stacked"]):
                return False
            if form != "flat" and held.shape.as_list() != forms[form]:
                return False
        return True

    def _rows_shape(self) -> Any:
        return [self.count * n for n in self.shape[:1]] + self.shape[1:]

    def _in_form(self, form: Any, shape: Any) -> Any:
        if self.flat() is None:
            made = tf.stack(self._parts) if form == "stacked" else tf.concat(self._parts, 0)
            self._forms[form] = made
        if self._forms[form] is None:
            self._forms[form] = constants.reshape(self.flat(), shape)
        return self._forms[form]

    def aligned(self, rank: int) -> Any:
        """`stacked()` with axes of size 1 after the first, so that `rank` axes follow it."""
        if rank not in self._aligned:
            shape = [self.count] + [1] * (rank - len(self.shape)) + self.shape
            self._aligned[rank] = constants.reshape(self.stacked(), shape)
        return self._aligned[rank]

    def form(self) -> Any:
        """The form that is at hand; if none is, "stacked" for vectors, "rows" for examples."""
        for form in ("rows", "stacked"):
            if self._forms[form] is not None:
                return form
        return "rows" if len(self.shape) > 1 else "stacked"

    def held_as(self, form: Any) -> Any:
        """The tensor of that form."""
        return self.rows() if form == "rows" else self.stacked()

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return [self.held_as(self._kind()[0])]

    def sources(self) -> Any:
        """The tensors of which every form of it is made."""
        held = self.flat()
        return self._parts if held is None else [held]

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        return Batch(self.count, self.shape, **{self._kind()[0]: tensors[0]})

    def _kind(self) -> tuple[Any, ...]:
        """The form in which graphs hand it on, and its shape."""
        if len(self.shape) > 1:
            return "rows", self._rows_shape()
        return "stacked", [self.count] + self.shape

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value of `tensor` (of the trace), in placeholders."""
        return self.like([functions.placeholder_like(tensor, self._kind()[1])])

    def each(self) -> Sequence[Tensor]:
        """One tensor per replica."""
        if self._parts is None:
            self._parts = tf.unstack(self.stacked())
        return self._parts

    def total(self, leaf: str = "") -> Tensor:
        """The sum over the replicas; `leaf` is its name in errors."""
        return tf.reduce_sum(self.stacked(), constants.constant(0))


def ops(batched: Any) -> list[Any]:
    """The ops that compute a batched value, in whatever form it is asked for later."""
    return [tensor.op for tensor in getattr(batched, "sources", batched.tensors)()]


def of_parts(tensors: Sequence[Tensor], tensor: Tensor, sizes: Sizes | None = None) -> BatchedValue:
    """The batched value of N tensors that stand for `tensor` of the trace.

    `sizes` is the `ragged_values.Sizes` of their rows, if that is known.
    """
    if all(part is tensors[0] for part in tensors):
        return Uniform(len(tensors), tensors[0])
    if tensor.dtype in (tf.resource, tf.variant):
        return PerReplicaTensors(len(tensors), tensors)
    if any(
        not part.shape.is_fully_defined() or part.shape.as_list() != tensors[0].shape.as_list()
        for part in tensors
    ):
        return ragged_values.of_parts(tensors, sizes) or PerReplicaTensors(len(tensors), tensors)
    rows = graphs.divided(tensors)
    return Batch(len(tensors), tensors[0].shape.as_list(), rows, parts=list(tensors))


def merged(one: Any, other: Any) -> Any:
    """The batched value, an outline, that can hold what both hold.

    Raises:
      NotBatchable: there is none.
    """
    if isinstance(one, Uniform):
        return other
    if isinstance(other, Uniform) or is_like(one, other):
        return one
    if isinstance(one, ReplicaSum) or isinstance(other, ReplicaSum):
        return one if isinstance(one, ReplicaSum) else other
    if isinstance(one, Lists) or isinstance(other, Lists):
        raise NotBatchable("lists of tensors of several shapes")
    return PerReplicaTensors(one.count)


def _fit(one: Any, other: Any) -> bool:
    return _kind(one) == _kind(other)


def _kind(batched: Any) -> Any:
    """A key that is equal for values of one class that are held in the same way."""
    return getattr(batched, "fit", None) or getattr(batched, "shape", None)


def is_like(one: Any, other: Any) -> bool:
    """Whether two batched values hold a tensor in the same way."""
    return _class(one) is _class(other) and _fit(one, other)


def _class(value: Any) -> Any:
    return getattr(value, "held_like", type(value))


def converted(batched: Any, outline: Any) -> Any:
    """`batched`, held as `outline` is, which can hold it."""
    if is_like(batched, outline):
        return batched
    if isinstance(outline, optionals.Optionals):
        return optionals.converted(batched, outline)
    if isinstance(outline, ReplicaSum):
        return ReplicaSum(batched.total())
    if isinstance(outline, PerReplicaTensors):
        return PerReplicaTensors(outline.count, batched.each())
    if isinstance(outline, Lists):
        return outline.like([tensor_lists.emptied(batched.value)])
    if not hasattr(outline, "shape"):
        raise NotBatchable("replicas do different numbers of rounds with lists")
    if isinstance(batched, Uniform):
        return Batch(outline.count, outline.shape, stacked=batched.stacked())
    return Batch(outline.count, outline.shape, parts=batched.each())
