"""Counts the FLOPs and the memory traffic of single instructions."""

from __future__ import annotations

import functools
import operator
from typing import Any, Iterable, Sequence

from tpudist.tools.compile.hlo import messages
from tpudist.tools.compile.hlo.messages import HloComputation, HloInstruction, HloModule, HloShape

#: Opcodes with one FLOP for each element of the result.
_ARITHMETIC = frozenset(
    "abs add and ceil compare clamp divide floor maximum minimum multiply negate not or power "
    "remainder round-nearest-afz round-nearest-even select sign subtract xor".split()
)

#: Opcodes without memory traffic.
_NO_TRAFFIC = frozenset(
    "parameter constant tuple get-tuple-element bitcast while conditional call after-all "
    "copy-done all-reduce-done all-gather-done async-done async-update optimization-barrier "
    "partition-id replica-id".split()
)

#: Opcodes whose result is a view of the operand.
_VIEWS = ("bitcast", "reshape")

#: The memory space of the fast memory beside a core, whose accesses are not counted.
_BESIDE_THE_CORE = 1


class Counter:
    """Counts the FLOPs and bytes of a compiled module's instructions, as if each ran once."""

    def __init__(self, module: HloModule) -> None:
        self._computations = {each.id: each for each in module.computations}
        self._flops: dict[int, int] = {}

    def flops(self, instruction: HloInstruction, operands: Sequence[HloInstruction]) -> int:
        """Returns the FLOPs of one instruction, with all that is fused into it."""
        if instruction.opcode == "convolution":
            return _convolution_flops(instruction, operands[0].shape, operands[1].shape)
        size = _elements(instruction.shape)
        if instruction.opcode == "dot":
            contracted = instruction.dot.lhs_contracting_dimensions
            return 2 * size * _product(operands[0].shape.dimensions[each] for each in contracted)
        if instruction.opcode in ("fusion", "async-start"):
            return sum(map(self._computation_flops, instruction.called_computation_ids))
        if instruction.opcode in ("reduce", "all-reduce"):
            return max(0, _elements(operands[0].shape) - size)
        if instruction.opcode == "reduce-window":
            return size * (_product(each.size for each in instruction.window.dimensions) - 1)
        return size if instruction.opcode in _ARITHMETIC else 0

    def _computation_flops(self, number: int) -> int:
        if number not in self._flops:
            computation = self._computations[number]
            by_id = {each.id: each for each in computation.instructions}
            self._flops[number] = sum(
                self.flops(each, [by_id[operand] for operand in each.operand_ids])
                for each in computation.instructions
            )
        return self._flops[number]

    def bytes(self, instruction: HloInstruction, operands: Sequence[HloInstruction]) -> int:
        """Returns the bytes that an instruction reads from and writes to the device's memory.

        It is of a computation that is not fused.
        """
        if instruction.opcode in _NO_TRAFFIC or instruction.custom_call_target == "AllocateBuffer":
            return 0
        if instruction.opcode in ("copy-start", "async-start"):
            result = instruction.shape.tuple_shapes[instruction.opcode == "async-start"]
            source = operands[0].shape
            return sum(
                messages.logical_bytes(result) for each in (source, result) if _traffic(each)
            )
        if instruction.opcode in ("dynamic-slice", "gather"):
            return 2 * _traffic(instruction.shape)
        if instruction.opcode == "dynamic-update-slice":
            return 2 * _traffic(operands[1].shape)
        if instruction.opcode == "fusion":
            return self._fusion_bytes(instruction, operands)
        return _traffic(instruction.shape) + sum(_traffic(each.shape) for each in operands)

    def _fusion_bytes(self, instruction: HloInstruction, operands: Sequence[HloInstruction]) -> int:
        fused = self._computations[instruction.called_computation_ids[0]]
        total = min(_traffic(instruction.shape), self._written(fused, fused.root_id))
        for each in fused.instructions:
            if each.opcode == "parameter":
                whole = _traffic(operands[each.parameter_number].shape)
                total += min(whole, self._read(fused, each.id)) if whole else 0
        return total

    def _read(self, computation: HloComputation, number: int) -> int:
        """Returns the bytes that a fusion reads of a value; of one that is sliced, the slice."""
        total = 0
        for user in computation.instructions:
            for place, operand in enumerate(user.operand_ids):
                if operand == number:
                    total += self._read_by(computation, user, place)
        return total

    def _read_by(self, computation: HloComputation, user: HloInstruction, place: int) -> int:
        """Returns the bytes that one user reads of its operand at a place."""
        if user.opcode in _VIEWS:
            return self._read(computation, user.id)
        if user.opcode == "dynamic-update-slice" and place == 0:
            return 0
        if user.opcode in ("dynamic-slice", "slice", "gather") and place == 0:
            return messages.logical_bytes(user.shape)
        if user.opcode == "fusion":
            fused = self._computations[user.called_computation_ids[0]]
            return sum(
                self._read(fused, each.id)
                for each in fused.instructions
                if each.opcode == "parameter" and each.parameter_number == place
            )
        by_id = {each.id: each for each in computation.instructions}
        return messages.tiled_bytes(by_id[user.operand_ids[place]].shape)

    def _written(self, computation: HloComputation, number: int) -> int:
        """Returns the bytes that a fusion writes; of an update in place, those of the update."""
        by_id = {each.id: each for each in computation.instructions}
        root = by_id[number]
        if root.opcode == "tuple":
            return sum(self._written(computation, each) for each in root.operand_ids)
        if root.opcode in _VIEWS:
            return self._written(computation, root.operand_ids[0])
        if root.opcode == "dynamic-update-slice":
            return messages.logical_bytes(by_id[root.operand_ids[1]].shape)
        if root.opcode == "fusion":
            fused = self._computations[root.called_computation_ids[0]]
            return self._written(fused, fused.root_id)
        return messages.tiled_bytes(root.shape)


def _traffic(shape: HloShape) -> int:
    """Returns the bytes of the arrays of a shape that lie in the device's memory."""
    if shape.tuple_shapes:
        return sum(map(_traffic, shape.tuple_shapes))
    return 0 if shape.layout.memory_space == _BESIDE_THE_CORE else messages.tiled_bytes(shape)


def _convolution_flops(instruction: HloInstruction, image: HloShape, kernel: HloShape) -> int:
    """Returns two FLOPs for each multiplication; those with padding are not counted."""
    dimensions, shape = instruction.convolution, instruction.shape.dimensions
    pairs = _product(
        _window_pairs(window, shape[output], image.dimensions[source])
        for window, output, source in zip(
            instruction.window.dimensions,
            dimensions.output_spatial_dimensions,
            dimensions.input_spatial_dimensions,
        )
    )
    others = _product(
        size for axis, size in enumerate(shape) if axis not in dimensions.output_spatial_dimensions
    )
    features = kernel.dimensions[dimensions.kernel_input_feature_dimension]
    return 2 * others * features * pairs // max(1, instruction.batch_group_count)


def _window_pairs(window: Any, output: int, source: int) -> int:
    """Counts the pairs of an output and a window position along one axis that hit an input.

    `output` and `source` are the sizes of the result and of the input along the axis.
    """
    base, stride = max(1, window.base_dilation), max(1, window.stride)
    last, total = (source - 1) * base, 0
    for place in range(window.size):
        offset = place * max(1, window.window_dilation) - window.padding_low
        low = max(0, -(offset // stride))
        high = min(output - 1, (last - offset) // stride)
        if base == 1:
            total += max(0, high - low + 1)
        else:
            total += sum((each * stride + offset) % base == 0 for each in range(low, high + 1))
    return total


def _elements(shape: HloShape) -> int:
    if shape.tuple_shapes:
        return sum(map(_elements, shape.tuple_shapes))
    return _product(shape.dimensions)


def _product(numbers: Iterable[int]) -> int:
    return functools.reduce(operator.mul, numbers, 1)
