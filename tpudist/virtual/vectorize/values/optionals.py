"""Batched optionals, in which branches pass intermediate values to their gradients.

One output of an If op is an optional into which each branch packs another value, or none. The
gradient of a branch unpacks what that branch has packed.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.tfcompat import made_ops
from tpudist.virtual.vectorize.values.batched_values import BatchedValue, NotBatchable, Uniform

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DType, Tensor


#: The op that packs a value into an optional, and the op that makes an empty one.
FULL, EMPTY = "OptionalFromValue", "OptionalNone"


class Optionals(BatchedValue):
    """One optional for all replicas, whose value is their stacked values.

    A kind is a pair of ``DType`` and the shape in one replica, None if the optional is empty.
    Inside a branch `kinds` has one; as the output of an If or Case op one for each branch, and
    `tensors` has the condition of that op beside the optional.
    """

    def __init__(self, count: int, kinds: Any, tensors: Sequence[Tensor] = ()) -> None:
        self.count = count
        self.kinds = list(kinds)
        self._tensors = list(tensors)

    @classmethod
    def of(cls, count: int, value: object, dtype: DType, shape: object) -> Any:
        """Packs a stacked `value`, of `shape` in one replica."""
        return cls(count, [(dtype, shape)], [_pack(value)])

    @property
    def is_branch_output(self) -> bool:
        """Whether it is the output of an If or Case op, not a value inside a branch."""
        return len(self.kinds) > 1

    @property
    def num_tensors(self) -> int:
        """Number of `tensors()`."""
        return 1 + self.is_branch_output

    @property
    def layout_key(self) -> tuple[Any, ...]:
        """Equal for two values of this class with the same layout; all are equal in a branch."""
        return "optional", str(self.kinds) if self.is_branch_output else None

    def as_branch_output(self, condition: Any, branch_values: Any) -> Any:
        """The output of an If or Case op, from the outputs of its branches."""
        kinds = [
            value.kinds[0] if isinstance(value, Optionals) else _kind_of(value)
            for value in branch_values
        ]
        return Optionals(self.count, kinds, [self.value, condition])

    def per_replica(self) -> list[Any]:
        """One optional per replica."""
        return [self._of_replica(replica) for replica in range(self.count)]

    def _of_replica(self, replica: int) -> Any:
        branches = [functools.partial(self._unpacked_one, kind, replica) for kind in self.kinds]
        return _switch(self._tensors[1], branches) if self.is_branch_output else branches[0]()

    def _unpacked_one(self, kind: Any, replica: int) -> Any:
        if kind is None:
            return tf.raw_ops.OptionalNone()
        return _pack(unpack(self, *kind)[replica])


def unpack(optional: Any, dtype: DType, shape: Any) -> Any:
    """Unpacks the stacked values of an `Optionals`, of `shape` in one replica."""
    stacked_shape = [optional.count] + list(shape)
    (value,) = tf.raw_ops.OptionalGetValue(
        optional=optional.value, output_types=[dtype], output_shapes=[stacked_shape]
    )
    value.set_shape(stacked_shape)
    return value


def with_layout(batched: Any, layout: Any) -> Any:
    """`batched`, converted to the layout of `layout`, an `Optionals`."""
    is_known = isinstance(batched, Uniform) and batched.value.op.type in (FULL, EMPTY)
    if layout.is_branch_output or not is_known:
        raise NotBatchable("what a gradient needs of a branch is held in another way")
    if batched.value.op.type == EMPTY:
        return layout.with_tensors([batched.value])
    return layout.with_tensors([_pack(made_ops.repeated(batched.value.op.inputs[0], layout.count))])


def _pack(value: object) -> Any:
    return tf.raw_ops.OptionalFromValue(components=[value])


def _kind_of(batched: Any) -> Any:
    """The kind of a uniform optional: ``DType`` and shape of its value, or None."""
    inputs: Any = batched.value.op.inputs if batched.value.op.type == FULL else ()
    return (inputs[0].dtype, inputs[0].shape.as_list()) if len(inputs) else None


def _switch(condition: Any, branches: Any) -> Any:
    if condition.dtype == tf.bool:
        return tf.cond(condition, *branches)
    return tf.switch_case(condition, branches)
