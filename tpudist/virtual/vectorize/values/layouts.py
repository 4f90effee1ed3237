"""Layouts of batched values: of lists and optionals, comparing layouts, and converting values."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.tfcompat import functions, graphs, made_ops
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize.values import ragged_values
from tpudist.virtual.vectorize.values.batched_values import (
    Batch,
    BatchedValue,
    NotBatchable,
    PerReplicaTensors,
    ReplicaSum,
    Uniform,
)

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DType, FunctionGraph, Tensor
    from tpudist.virtual.vectorize.values.ragged_values import Sizes


# Batched tensor lists, which loops read and write.

#: Ops that return a new list; input 0 is the shape of its elements.
_MAKERS = ("EmptyTensorList", "TensorListReserve")


class StackedList(BatchedValue):
    """One tensor list for all replicas, whose elements have the shape ``[N] + shape``."""

    def __init__(self, count: int, shape: Any, dtype: DType, tensor: Tensor | None = None) -> None:
        self.count = count
        self.shape = list(shape)
        self.dtype = dtype
        self._tensors = [tensor]

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([tf.compat.v1.placeholder(tf.variant, [])])

    def per_replica(self) -> Any:
        """One list per replica."""
        shape = tf.constant([self.count] + self.shape)
        stacked = tf.raw_ops.TensorListStack(
            input_handle=self.value, element_shape=shape, element_dtype=self.dtype
        )
        parts = tf.unstack(stacked, self.count, 1)
        own = tf.constant(self.shape, tf.int32, [len(self.shape)])
        return [tf.raw_ops.TensorListFromTensor(tensor=t, element_shape=own) for t in parts]


class PaddedList(BatchedValue):
    """A list to which replicas pushed unequal numbers of elements, in a loop that they left.

    Where a replica had left, `whole` has an element of no meaning for it. `lengths` is an int32
    tensor ``[N]``: how many elements each replica has.
    """

    num_tensors = 2

    def __init__(self, whole: BatchedValue, lengths: Tensor) -> None:
        self.whole = whole
        self.lengths = lengths
        self._tensors = [whole.value, lengths]

    @property
    def layout_key(self) -> Any:
        """Equal for two values of this class with the same layout."""
        return type(self.whole), self.whole.layout_key

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A padded list of the same layout, of its list and its lengths."""
        return PaddedList(self.whole.with_tensors(tensors[:1]), tensors[1])

    def per_replica(self) -> Any:
        """One list per replica, without the padding."""
        lists = self.whole.per_replica()
        sizes = tf.unstack(self.lengths, len(lists))
        return [tf.raw_ops.TensorListResize(input_handle=a, size=n) for a, n in zip(lists, sizes)]


def of_any_shape(tensor: Tensor) -> Tensor:
    """Makes an empty list of tensors, like the list `tensor`, for elements of any shape.

    For an input of a loop that is batched for the first time it is a placeholder that is never fed:
    the loop is batched again when the layout is known; see :func:`check_fed`.
    """
    if tensor.op.type == "Placeholder":
        return tf.compat.v1.placeholder(tf.variant, [])
    if tensor.op.type not in _MAKERS:
        raise NotBatchable("a list of tensors that were the same for every replica")
    shape, *others = tensor.op.inputs
    return functions.copy_op(tensor.op, [tf.constant(-1, shape.dtype)] + others).outputs[0]


def check_fed(graph: FunctionGraph) -> None:
    """Checks that a finished FuncGraph has no placeholder that is never fed."""
    fed = IdentityMap.of(graph.inputs)
    for op in graph.get_operations():
        if op.type == "Placeholder" and op.outputs[0] not in fed:
            raise NotBatchable("a list of tensors that were the same for every replica")


# Optionals, in which branches pass values to their gradients: one output of an If op is
# an optional into which each branch packs another value, or none, and its gradient unpacks that.


#: The op that packs a value into an optional, and the op that makes an empty one.
FULL, EMPTY = "OptionalFromValue", "OptionalNone"


class Optionals(BatchedValue):
    """One optional for all replicas, whose value is their stacked values.

    A kind is a pair of ``DType`` and the shape in one replica, None if the optional is empty. As
    the output of an If or Case op it has one for each branch, and the condition beside the tensor.
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
        kinds: list[Any] = []
        for value in branch_values:
            if isinstance(value, Optionals):
                kinds.append(value.kinds[0])
            else:  # a uniform one
                packed = value.value.op.inputs[0] if value.value.op.type == FULL else None
                kinds.append(packed if packed is None else (packed.dtype, packed.shape.as_list()))
        return Optionals(self.count, kinds, [self.value, condition])

    def per_replica(self) -> list[Any]:
        """One optional per replica."""

        def of(kind: Any, replica: int) -> Any:
            is_empty = kind is None
            return tf.raw_ops.OptionalNone() if is_empty else _pack(unpack(self, *kind)[replica])

        optionals = []
        for replica in range(self.count):
            branches = [functools.partial(of, kind, replica) for kind in self.kinds]
            if not self.is_branch_output:
                optionals.append(branches[0]())
            elif self._tensors[1].dtype == tf.bool:
                optionals.append(tf.cond(self._tensors[1], *branches))
            else:
                optionals.append(tf.switch_case(self._tensors[1], branches))
        return optionals


def unpack(optional: Any, dtype: DType, shape: Any) -> Any:
    """Unpacks the stacked values of an `Optionals`, of `shape` in one replica."""
    stacked_shape = [optional.count] + list(shape)
    (value,) = tf.raw_ops.OptionalGetValue(
        optional=optional.value, output_types=[dtype], output_shapes=[stacked_shape]
    )
    value.set_shape(stacked_shape)
    return value


def _pack(value: object) -> Any:
    return tf.raw_ops.OptionalFromValue(components=[value])


# Conversions.


def from_replicas(
    tensors: Sequence[Tensor], tensor: Tensor, sizes: Sizes | None = None
) -> BatchedValue:
    """The batched value of N tensors that stand for `tensor` of the trace, of `sizes` if known."""
    if all(part is tensors[0] for part in tensors):
        return Uniform(len(tensors), tensors[0])
    if tensor.dtype in (tf.resource, tf.variant):
        return PerReplicaTensors(len(tensors), tensors)
    for part in tensors:
        if tensor.shape.is_fully_defined() and part.shape.is_compatible_with(tensor.shape):
            part.set_shape(tensor.shape)  # the trace may have been given it
    if any(
        not part.shape.is_fully_defined() or part.shape.as_list() != tensors[0].shape.as_list()
        for part in tensors
    ):
        return ragged_values.from_replicas(tensors, sizes) or PerReplicaTensors(
            len(tensors), tensors
        )
    rows = graphs.divided(tensors)
    return Batch(len(tensors), tensors[0].shape.as_list(), list(tensors), rows=rows)


def common_layout(one: Any, other: Any) -> BatchedValue:
    """A batched value whose layout both can be converted to."""
    if isinstance(one, Uniform):
        return other
    if isinstance(other, Uniform) or same_layout(one, other):
        return one
    if isinstance(one, ReplicaSum) or isinstance(other, ReplicaSum):
        return one if isinstance(one, ReplicaSum) else other
    if isinstance(one, StackedList) or isinstance(other, StackedList):
        raise NotBatchable("lists of tensors of several shapes")
    return PerReplicaTensors(one.count)


def same_layout(one: Any, other: Any) -> bool:
    """Whether two batched values have the same layout."""
    classes = [value.layout_class or type(value) for value in (one, other)]
    return classes[0] is classes[1] and one.layout_key == other.layout_key


def with_layout(batched: Any, layout: Any) -> BatchedValue:
    """`batched`, converted to the layout of `layout`."""
    if same_layout(batched, layout):
        return batched
    if isinstance(layout, Optionals):
        is_known = isinstance(batched, Uniform) and batched.value.op.type in (FULL, EMPTY)
        if layout.is_branch_output or not is_known:
            raise NotBatchable("what a gradient needs of a branch is held in another way")
        value, op = batched.value, batched.value.op
        full = _pack(made_ops.repeated(op.inputs[0], layout.count)) if op.type == FULL else value
        return layout.with_tensors([full])
    if isinstance(layout, ReplicaSum):
        return ReplicaSum(batched.total())
    if isinstance(layout, PerReplicaTensors):
        return PerReplicaTensors(layout.count, batched.per_replica())
    if isinstance(layout, PaddedList):
        raise NotBatchable("lists of different lengths")
    if isinstance(layout, StackedList):
        return layout.with_tensors([of_any_shape(batched.value)])
    if isinstance(batched, Uniform):
        return Batch(layout.count, layout.shape, stacked=batched.stacked())
    return Batch(layout.count, layout.shape, parts=batched.per_replica())
