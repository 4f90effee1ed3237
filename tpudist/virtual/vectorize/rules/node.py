"""Nodes: an op of a trace with its batched inputs, for a rule to do once for all replicas.

A rule is a function of a `Node` that returns the batched values of the op's outputs,
or None if it cannot say. Every rule gives for each replica what the op would
have given that replica alone, up to the order of floating-point additions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.vectorize import batched_values, static_values

if TYPE_CHECKING:
    from typing import Any, Callable

    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.annotations import BatchedValue

    #: A batching rule: the batched outputs of a `Node`, or None where it cannot say.
    Rule = Callable[["Node"], Any]


#: {op type: rule}
RULES: dict[Any, Any] = {}

#: Ops that give the same values another shape.
RESHAPES = ("ExpandDims", "Reshape", "Squeeze")

#: Ops that return their input.
IDENTITIES = ("Identity", "PreventGradient", "Snapshot", "StopGradient")

#: Ops through which a sum over replicas may be taken.
LINEAR = frozenset(IDENTITIES + RESHAPES + ("Add", "AddN", "AddV2", "Neg", "Sub"))


#: The highest rank that TensorFlow's kernels take (1.13 to 2.21, on a CPU).
MAX_RANKS = {
    "ArgMax": 7,
    "ArgMin": 7,
    "MirrorPad": 5,
    "MirrorPadGrad": 5,
    "Pad": 6,
    "PadV2": 6,
    "SelectV2": 8,
    "Slice": 8,
    "StridedSlice": 8,
    "StridedSliceGrad": 8,
}

#: Ops with an output whose shape is the kernel's choice.
KERNEL_SHAPED = ("FusedBatchNormV3", "FusedBatchNormGradV3")

#: Ops on tensor lists.
LIST_OPS = tuple(
    "TensorListSetItem TensorListPushBack TensorListPopBack TensorListGetItem "
    "TensorListLength TensorListElementShape TensorListResize TensorListStack "
    "TensorListGather TensorListFromTensor ZerosLike AddN".split()
)

#: Ops on optionals.
OPTIONAL_OPS = ("OptionalFromValue", "OptionalGetValue")

#: As in `MAX_RANKS`, where shapes are broadcast.
BROADCAST_RANK = 5


def rules_of(registry: dict[str, Rule]) -> Callable[..., Callable[[Rule], Rule]]:
    """A decorator with op types, which makes a function their rule in `registry`."""

    def rule(*types: str) -> Callable[[Rule], Rule]:
        def register(function: Rule) -> Rule:
            registry.update((op_type, function) for op_type in types)
            return function

        return register

    return rule


rule = rules_of(RULES)


class Node:
    """An op of the trace whose inputs are known.

    Attributes:
      op: the op of the trace.
      inputs: the batched value of each input.
      count: number of replicas.
      summed: whether only the sum over the replicas of output 0 is wanted.
    """

    def __init__(self, op: Operation, inputs: Any, count: int, summed: Any) -> None:
        self.op = op
        self.inputs = inputs
        self.count = count
        self.summed = summed
        self._input_shapes = [
            batched.static_shape(tensor) for batched, tensor in zip(inputs, op.inputs)
        ]
        self._output_shapes = static_values.shapes(op, inputs)

    def shape(self, index: int = 0) -> Any:
        """The static shape of an output for one replica, or None."""
        shape = self._output_shapes[index]
        return shape.as_list() if shape.is_fully_defined() else None

    def input_shape(self, index: int = 0) -> Any:
        """The static shape of an input for one replica, or None."""
        shape = self._input_shapes[index]
        return shape.as_list() if shape.is_fully_defined() else None

    @property
    def shapes(self) -> Any:
        """The static shape of each output for one replica, as far as it is known."""
        return self._output_shapes

    def is_known(self) -> bool:
        """Whether all shapes around the op are known while tracing, or of no interest."""
        if all(shape.is_fully_defined() for shape in self._input_shapes + self._output_shapes):
            return True
        tensors = list(self.op.inputs) + list(self.op.outputs)
        return self.op.type in KERNEL_SHAPED + IDENTITIES or any(
            t.dtype == tf.variant for t in tensors
        )

    def has_room(self) -> bool:
        """Whether the op's kernel takes a tensor with one axis more."""
        highest = MAX_RANKS.get(self.op.type)
        return highest is None or all(
            len(shape) < highest for shape in self._input_shapes + self._output_shapes
        )

    def constant(self, index: int) -> Any:
        """The value of an input if it is known while tracing, or None."""
        value = self.inputs[index].constant() if self.is_uniform(index) else None
        return functions.static_value(self.op.inputs[index]) if value is None else value

    def is_batch(self, *indices: Any) -> bool:
        """Whether these inputs are batches: one tensor with a value per replica."""
        return all(isinstance(self.inputs[i], batched_values.Batch) for i in indices)

    def is_uniform(self, *indices: Any) -> bool:
        """Whether these inputs are the same for every replica."""
        return all(isinstance(self.inputs[i], batched_values.Uniform) for i in indices)

    def broadcasts_rows(self, index: int) -> bool:
        """Whether an input is broadcast to the output in the same way when it is given all rows."""
        shape, out = self.input_shape(index), self.shape()
        if self.is_uniform(index):
            return len(shape) < len(out) or shape[0] == 1
        return len(shape) == len(out) and shape[0] == out[0]

    def add_op(self, *inputs: Any) -> Any:
        """Adds the op with other inputs; returns its outputs."""
        return functions.copy_op(self.op, inputs).outputs

    def on_rows(self, *inputs: Any) -> list[Any]:
        """Adds the op on rows; the batched values of its outputs."""
        return [
            batched_values.Batch(self.count, self.shape(i), rows=output)
            for i, output in enumerate(self.add_op(*inputs))
        ]

    def on_stacked(self, *inputs: Any) -> Any:
        """Adds the op on stacked values; the batched value of its output."""
        return self.from_stacked(self.add_op(*inputs)[0])

    def on_form(self, form: Any, *inputs: Any) -> list[Any]:
        """Adds the op on rows or stacked values; the batched value of its output."""
        (output,) = self.add_op(*inputs)
        return [batched_values.Batch(self.count, self.shape(), **{form: output})]

    def from_stacked(self, tensor: Tensor) -> BatchedValue:
        """The batched value of output 0, from the stacked `tensor`."""
        return [batched_values.Batch(self.count, self.shape(), stacked=tensor)]
