"""Nodes, the arguments of batching rules: an op of a trace with its batched inputs.

A rule is a function of a `Node` that returns the batched outputs of the op, or None if it does
not cover the op. For each replica these are equal to the outputs of the op in that replica
alone, up to the order of floating-point additions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.vectorize.values import batched_values, known_shapes

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


#: A batching rule: from a node to its batched outputs, or None.
Rule = Callable[["Node"], "Sequence[BatchedValue] | None"]

#: {op type: rule}
RULES: dict[str, Rule] = {}

#: Ops that give the same values another shape.
RESHAPES = ("ExpandDims", "Reshape", "Squeeze")

#: Ops that return their input.
IDENTITIES = ("Identity", "PreventGradient", "Snapshot", "StopGradient")

#: Linear ops: their output for sums over the replicas is the sum of their outputs.
LINEAR = frozenset(IDENTITIES + RESHAPES + ("Add", "AddN", "AddV2", "Neg", "Sub"))


#: {op type: the highest rank that its kernels take, in TensorFlow 1.13 to 2.21 on a CPU}
MAX_RANKS = {
    **dict.fromkeys(("ArgMax", "ArgMin"), 7),
    **dict.fromkeys(("MirrorPad", "MirrorPadGrad"), 5),
    **dict.fromkeys(("Pad", "PadV2"), 6),
    **dict.fromkeys(("SelectV2", "Slice", "StridedSlice", "StridedSliceGrad"), 8),
}

#: Ops with an output, reserved for their gradient, whose shape the kernel chooses.
KERNEL_SHAPED = ("FusedBatchNormV3", "FusedBatchNormGradV3")

#: Ops on tensor lists.
LIST_OPS = tuple(
    "TensorListSetItem TensorListPushBack TensorListPopBack TensorListGetItem "
    "TensorListLength TensorListElementShape TensorListResize TensorListStack "
    "TensorListGather TensorListFromTensor ZerosLike AddN".split()
)

#: Ops on optionals.
OPTIONAL_OPS = ("OptionalFromValue", "OptionalGetValue")

#: The highest rank that kernels take if they broadcast their inputs.
BROADCAST_RANK = 5


def rules_of(registry: dict[str, Rule]) -> Callable[..., Callable[[Rule], Rule]]:
    """A decorator, called with op types, that registers a function as their rule."""

    def rule(*types: str) -> Callable[[Rule], Rule]:
        def register(function: Rule) -> Rule:
            registry.update((op_type, function) for op_type in types)
            return function

        return register

    return rule


rule = rules_of(RULES)


class Node:
    """An op of the trace with its batched inputs.

    If `summed`, only the sum of output 0 over the replicas is needed; `shapes` are those of the
    outputs in one replica, as far as they are static.
    """

    def __init__(self, op: Operation, inputs: Any, count: int, summed: object) -> None:
        self.op = op
        self.inputs = inputs
        self.count = count
        self.summed = summed
        self._input_shapes = [
            batched.static_shape(tensor) for batched, tensor in zip(inputs, op.inputs)
        ]
        self.shapes = known_shapes.output_shapes(op, inputs)

    def shape(self, index: int = 0) -> Any:
        """The shape of an output in one replica, a list of ints; None if it is not static."""
        shape = self.shapes[index]
        return shape.as_list() if shape.is_fully_defined() else None

    def input_shape(self, index: int = 0) -> Any:
        """The shape of an input in one replica, a list of ints; None if it is not static."""
        shape = self._input_shapes[index]
        return shape.as_list() if shape.is_fully_defined() else None

    def is_known(self) -> bool:
        """Whether all shapes of inputs and outputs are static, or irrelevant."""
        if all(shape.is_fully_defined() for shape in self._input_shapes + self.shapes):
            return True
        tensors = [*self.op.inputs, *self.op.outputs]
        is_any = any(tensor.dtype == tf.variant for tensor in tensors)
        return is_any or self.op.type in KERNEL_SHAPED + IDENTITIES

    def has_room(self) -> bool:
        """Whether the kernel of the op takes one axis more."""
        highest, shapes = MAX_RANKS.get(self.op.type), self._input_shapes + self.shapes
        return highest is None or all(len(shape) < highest for shape in shapes)

    def constant(self, index: int) -> Any:
        """The value of an input, an array; None if it is not known while tracing."""
        value = self.inputs[index].constant() if self.is_uniform(index) else None
        return functions.static_value(self.op.inputs[index]) if value is None else value

    def is_batch(self, *indices: Any) -> bool:
        """Whether these inputs are `Batch` objects."""
        return all(isinstance(self.inputs[i], batched_values.Batch) for i in indices)

    def is_uniform(self, *indices: Any) -> bool:
        """Whether these inputs are `Uniform` objects."""
        return all(isinstance(self.inputs[i], batched_values.Uniform) for i in indices)

    def broadcasts_rows(self, index: int) -> bool:
        """Whether an input with all replicas' rows is broadcast as it is in one replica."""
        shape, out = self.input_shape(index), self.shape()
        if self.is_uniform(index):
            return len(shape) < len(out) or shape[0] == 1
        return len(shape) == len(out) and shape[0] == out[0]

    def add_op(self, *inputs: Any) -> list[Tensor]:
        """Adds a copy of the op with these input tensors; returns its output tensors."""
        return functions.copy_op(self.op, inputs).outputs

    def batches(self, form: str, tensors: Sequence[Tensor]) -> list[BatchedValue]:
        """The batched outputs of the op, of tensors in `form`, "rows" or "stacked"."""
        return [
            batched_values.Batch(self.count, self.shape(i), **{form: tensor})
            for i, tensor in enumerate(tensors)
        ]

    def on_form(self, form: str, *inputs: Any) -> list[BatchedValue]:
        """Adds the op on values in `form`, "rows" or "stacked"; returns its batched outputs."""
        return self.batches(form, self.add_op(*inputs))

    def on_rows(self, *inputs: Any) -> list[BatchedValue]:
        """Adds the op on rows; returns its batched outputs."""
        return self.on_form("rows", *inputs)

    def on_stacked(self, *inputs: Any) -> list[BatchedValue]:
        """Adds the op on stacked values; returns its batched outputs."""
        return self.on_form("stacked", *inputs)

    def from_stacked(self, tensor: Tensor) -> list[BatchedValue]:
        """The batched outputs of an op with one output, the stacked `tensor`."""
        return self.batches("stacked", [tensor])
