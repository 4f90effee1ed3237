"""Optionals for all replicas: branches hand what they computed to their gradients in them.

One place of an If op has for each branch another thing, or nothing: the gradient of a branch
unpacks what that branch has put there.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual import constants
from tpudist.virtual.vectorize.tensor_lists import NotBatchable
from tpudist.virtual.vectorize.uniform_values import Uniform

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import DType, Tensor
    from tpudist.virtual.annotations import BatchedValue


#: The op that puts a value into an optional, and that of one without a value.
FULL, EMPTY = "OptionalFromValue", "OptionalNone"


class Optionals:
    """One optional for all replicas, which has their stacked values.

    Args:
      count: number of replicas.
      kinds: what it has after each branch, a pair of ``DType`` and shape for one replica, or
        None; of one branch while inside of it.
      tensors: the optional; behind branches also what tells them apart, their condition.
    """

    def __init__(self, count: int, kinds: Any, tensors: Sequence[Tensor] = ()) -> None:
        self.count = count
        self.kinds = list(kinds)
        self._tensors = list(tensors)

    @classmethod
    def of(cls, count: int, value: Any, dtype: DType, shape: Any) -> Any:
        """The optional of a stacked `value`, which has `shape` for one replica."""
        return cls(count, [(dtype, shape)], [_full(value)])

    @property
    def is_behind(self) -> bool:
        """Whether it is seen behind the branches."""
        return len(self.kinds) > 1

    @property
    def width(self) -> int:
        """How many tensors hold it."""
        return 1 + self.is_behind

    @property
    def fit(self) -> tuple[Any, ...]:
        """What those have in common that are held alike: inside of branches all are."""
        return "optional", str(self.kinds) if self.is_behind else None

    @property
    def value(self) -> Any:
        """The optional."""
        return self._tensors[0]

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return self._tensors

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        return Optionals(self.count, self.kinds, tensors)

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value of `tensor` (of the trace), in placeholders."""
        return self.like([functions.placeholder_like(each) for each in self._tensors])

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tensor.shape

    def after(self, condition: Any, parts: Any) -> Any:
        """The same behind an op with branches of which `parts` are what each one gives."""
        kinds = [part.kinds[0] if isinstance(part, Optionals) else _kind(part) for part in parts]
        return Optionals(self.count, kinds, [self.value, condition])

    def each(self) -> list[Any]:
        """One optional per replica."""
        return [self._of_replica(replica) for replica in range(self.count)]

    def _of_replica(self, replica: int) -> Any:
        made = [functools.partial(self._made, kind, replica) for kind in self.kinds]
        return _switch(self._tensors[1], made) if self.is_behind else made[0]()

    def _made(self, kind: Any, replica: int) -> Any:
        if kind is None:
            return tf.raw_ops.OptionalNone()
        return _full(unpacked(self, *kind)[replica])


class ByBranch:
    """What branches hand to their gradients where replicas take different ones.

    Args:
      condition: the tensor of the trace that tells which one.
      taken: for each branch but the last, a bool tensor ``[replicas]``: which take it.
      values: for each branch the batched value of its optional.
    """

    def __init__(self, condition: Any, taken: Any, values: Any) -> None:
        self._condition = condition
        self._taken = taken
        self._values = values
        self.count = values[0].count

    @property
    def width(self) -> int:
        """How many tensors hold it."""
        return len(self.tensors())

    @property
    def fit(self) -> tuple[Any, ...]:
        """What those have in common that are held alike."""
        return "by branch", id(self._condition)

    def of_branch(self, index: int, condition: Any) -> Any:
        """The batched value that the gradient of a branch gets.

        Raises:
          NotBatchable: it is not by the same `condition`, a tensor of the trace.
        """
        if condition is not self._condition:
            raise NotBatchable("replicas take different branches of another condition")
        return self._values[index]

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return self._taken + [tensor for value in self._values for tensor in value.tensors()]

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        taken, rest = tensors[: len(self._taken)], tensors[len(self._taken) :]
        values = []
        for value in self._values:
            values.append(value.like(rest[: value.width]))
            rest = rest[value.width :]
        return ByBranch(self._condition, taken, values)

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value of `tensor` (of the trace), in placeholders."""
        return self.like([functions.placeholder_like(each) for each in self.tensors()])

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tensor.shape

    def each(self) -> list[Any]:
        """One optional per replica: that of the branch which it takes."""
        columns = [value.each() for value in self._values]
        return [self._chosen(replica, own) for replica, own in enumerate(zip(*columns))]

    def _chosen(self, replica: int, optionals: Any) -> Any:
        found = optionals[-1]
        for taken, one in reversed(list(zip(self._taken, optionals))):
            found = tf.cond(taken[replica], lambda one=one: one, lambda rest=found: rest)
        return found


def unpacked(optional: Any, dtype: DType, shape: Any) -> Any:
    """The stacked values that an `Optionals` has, of `shape` for one replica."""
    whole = [optional.count] + list(shape)
    (found,) = tf.raw_ops.OptionalGetValue(
        optional=optional.value, output_types=[dtype], output_shapes=[whole]
    )
    found.set_shape(whole)
    return found


def converted(batched: Any, outline: Any) -> Any:
    """`batched`, held as `outline`, an `Optionals`, which can hold it."""
    known = isinstance(batched, Uniform) and batched.value.op.type in (FULL, EMPTY)
    if outline.is_behind or not known:
        raise NotBatchable("what a gradient needs of a branch is held in another way")
    if batched.value.op.type == EMPTY:
        return outline.like([batched.value])
    return outline.like([_full(constants.repeated(batched.value.op.inputs[0], outline.count))])


def _full(value: Any) -> Any:
    return tf.raw_ops.OptionalFromValue(components=[value])


def _kind(batched: Any) -> Any:
    """What the optional of a branch has that is the same for every replica."""
    inputs: Any = batched.value.op.inputs if batched.value.op.type == FULL else ()
    return (inputs[0].dtype, inputs[0].shape.as_list()) if len(inputs) else None


def _switch(condition: Any, made: Any) -> Any:
    if condition.dtype == tf.bool:
        return tf.cond(condition, *made)
    return tf.switch_case(condition, made)
