"""Simulates which arrays are live in the device's memory at each instruction of a program.

The compiler says how much memory a program takes, but not which arrays take it. So the
schedule is simulated: an array is live from the instruction that defines it to its last
use. Loops work in place, and a result may reuse the buffer of an operand whose last use
it is.
"""

from __future__ import annotations

from typing import Any, Container, Iterator, NamedTuple

from tpudist.tools.compile.hlo import messages, normal_form
from tpudist.tools.compile.hlo.messages import HloComputation, HloInstruction, HloModule, HloShape

#: The `layout.memory_space` of the device's memory.
_HBM = 0

#: Opcodes whose result is an operand, or the element of its tuple at an index.
_ALIASES = {
    "bitcast": None,
    "optimization-barrier": None,
    "while": None,
    "copy-done": 0,
    "async-update": None,
    "async-done": 1,
    "all-reduce-done": None,
    "all-gather-done": 1,
    "collective-permute-done": 1,
}

#: Opcodes whose result is a tuple with the operand in it, and the index of that element.
_WITH_OPERAND = {
    "copy-start": 1,
    "async-start": 0,
    "all-gather-start": 0,
    "collective-permute-start": 0,
}

#: Opcodes that may write their result over an operand whose last use they are.
_IN_PLACE = frozenset(
    "fusion dynamic-update-slice scatter all-reduce add subtract multiply divide maximum "
    "minimum select convert tanh exponential negate".split()
)

#: Opcodes that run a computation with memory of its own.
_CALLS = ("while", "conditional", "call")


class LiveArray(NamedTuple):
    """A live array: bytes, its op's name, shape as text, and the number of the
    program's parameter that it is, or None."""

    bytes: int
    op_name: str
    shape: str
    parameter: int | None


class Usage(NamedTuple):
    """The memory that a program uses over its schedule."""

    bytes: list[int]  # live at each instruction, in the order of the schedule
    # `LiveArray` records of the first instruction at which most bytes are live, the largest first
    peak: list[LiveArray]


class _Array:
    """An array: its size, the instruction that defines it, and the place of its last use."""

    def __init__(self, size: int, defined_by: HloInstruction, shape: HloShape) -> None:
        self.size, self.defined_by, self.shape, self.last_use = size, defined_by, shape, -1

    @property
    def is_parameter(self) -> bool:
        return self.defined_by.opcode == "parameter"

    def record(self) -> LiveArray:
        return LiveArray(
            self.size,
            "" if self.is_parameter else self.defined_by.metadata.op_name,
            messages.shape_text(self.shape),
            self.defined_by.parameter_number if self.is_parameter else None,
        )


def usage(module: HloModule) -> Usage:
    """Simulates the memory of a compiled program; without a schedule the `Usage` is empty."""
    orders = {each.key: list(each.value.instruction_ids) for each in module.schedule.sequences}
    entry = normal_form.entry(module)
    if entry.id not in orders:
        return _NOTHING
    computations = {each.id: each for each in module.computations}
    aliased = {
        each.output_shape_index[0]
        for each in module.input_output_alias.entries
        if each.output_shape_index
    }
    return _Computation(entry, orders, computations, True).usage(aliased)


class _Computation:
    """One computation, whose schedule is simulated."""

    def __init__(
        self,
        computation: HloComputation,
        orders: dict[int, list[int]],
        computations: dict[int, HloComputation],
        is_entry: bool,
    ) -> None:
        self._orders, self._computations, self._is_entry = orders, computations, is_entry
        by_id = {each.id: each for each in computation.instructions}
        order = orders.get(computation.id) or [each.id for each in computation.instructions]
        self._order = [by_id[each] for each in order]
        self._root = computation.root_id
        self._values: dict[int, Any] = {}
        self._defined: dict[int, list[_Array]] = {}
        for place, instruction in enumerate(self._order):
            for operand in instruction.operand_ids:
                for array in _arrays(self._values[operand]):
                    array.last_use = place
            self._defined[place] = []
            self._values[instruction.id] = self._value(instruction, place)
        for array in _arrays(self._values[self._root]):
            array.last_use = len(self._order)

    def usage(self, aliased: Container[int] | None) -> Usage:
        """Simulates the schedule of the computation.

        Args:
          aliased: indices of results that are written over parameters; None for all.
        """
        root = self._values[self._root]
        for index, part in enumerate(root if isinstance(root, list) else [root]):
            if aliased is None or index in aliased:
                for array in _arrays(part):
                    if not array.is_parameter:
                        array.size = 0
        live = {
            each: None
            for defined in self._defined.values()
            for each in defined
            if each.is_parameter
        }
        level, most, peak, levels = sum(each.size for each in live), -1, [], []
        for place, instruction in enumerate(self._order):
            new = [each for each in self._defined[place] if not each.is_parameter]
            level -= self._reuse_buffers(instruction, place, new, live)
            live.update(dict.fromkeys(new))
            level += sum(each.size for each in new)
            called = self._called_usage(instruction)
            total = level + max(called.bytes, default=0)
            levels.append(total)
            if total > most:
                most = total
                peak = [each.record() for each in live if each.size] + called.peak
            for each in [each for each in live if each.last_use <= place and not each.is_parameter]:
                del live[each]
                level -= each.size
        return Usage(levels, sorted(peak, key=lambda each: (-each.bytes, each.op_name)))

    def _reuse_buffers(
        self, instruction: HloInstruction, place: int, new: list[_Array], live: dict[_Array, None]
    ) -> int:
        """Removes the operands whose buffers new arrays reuse; returns their bytes."""
        if instruction.opcode not in _IN_PLACE:
            return 0
        reused = 0
        last_used = [
            array
            for operand in instruction.operand_ids
            for array in _arrays(self._values[operand])
            if array.last_use == place and array in live and not array.is_parameter
        ]
        for array in new:
            for other in last_used:
                if other.size == array.size and other in live:
                    del live[other]
                    reused += other.size
                    break
        return reused

    def _called_usage(self, instruction: HloInstruction) -> Usage:
        """Returns the largest usage of the computations that an instruction runs."""
        if instruction.opcode not in _CALLS:
            return _NOTHING
        usages = [
            _Computation(self._computations[each], self._orders, self._computations, False).usage(
                None
            )
            for each in instruction.called_computation_ids
        ]
        return max(usages, key=lambda each: max(each.bytes, default=0), default=_NOTHING)

    def _value(self, instruction: HloInstruction, place: int) -> Any:
        """Returns an instruction's result: an `_Array`, or a list for a tuple."""
        operands = [self._values[each] for each in instruction.operand_ids]
        opcode = instruction.opcode
        if opcode == "tuple":
            return operands
        if opcode == "get-tuple-element":
            return operands[0][instruction.tuple_index]
        if opcode in _ALIASES:
            index = _ALIASES[opcode]
            return operands[0] if index is None else operands[0][index]
        parts = instruction.shape.tuple_shapes
        if opcode in _WITH_OPERAND and parts:
            index = _WITH_OPERAND[opcode]
            is_list = len(operands) > 1 or bool(parts[index].tuple_shapes)
            passed = operands if is_list and index == 0 else operands[0]
            return [
                passed if number == index else self._define(instruction, part, place)
                for number, part in enumerate(parts)
            ]
        return self._define(instruction, instruction.shape, place)

    def _define(self, instruction: HloInstruction, shape: HloShape, place: int) -> Any:
        """Returns new arrays for the result of an instruction."""
        if shape.tuple_shapes:
            return [self._define(instruction, each, place) for each in shape.tuple_shapes]
        in_caller = instruction.opcode == "parameter" and not self._is_entry
        free = in_caller or instruction.opcode == "constant" or shape.layout.memory_space != _HBM
        array = _Array(0 if free else messages.tiled_bytes(shape), instruction, shape)
        array.last_use = place
        self._defined[place].append(array)
        return array


_NOTHING = Usage([], [])


def _arrays(value: Any) -> Iterator[_Array]:
    if isinstance(value, list):
        for each in value:
            yield from _arrays(each)
    else:
        yield value
