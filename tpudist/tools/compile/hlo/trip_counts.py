"""Finds how often the loops of a program run, from their conditions, bodies and initial values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, NamedTuple

from tpudist.tools.compile.hlo import normal_form
from tpudist.tools.compile.hlo.messages import HloComputation, HloInstruction, HloModule

#: Opcodes whose result is the number that the operand is.
_SAME_NUMBER = ("copy", "convert", "bitcast", "reshape", "copy-done", "copy-start")


class Linear(NamedTuple):
    """An integer: a constant, or an element of a loop's tuple plus a constant."""

    element: int | None
    constant: int


if TYPE_CHECKING:
    #: Of a tuple's elements, None where it is not known.
    _Tuple = List[Any]


class Program:
    """A module with the trip counts of its loops.

    Attributes:
      trips: {id of a while instruction: how often its body runs, None if unknown}.
      times: {id of a computation: how often it runs in one step}; a loop whose
        count is unknown runs once, a branch as often as its conditional.
    """

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self._computations = {each.id: each for each in module.computations}
        self._instructions = {
            computation.id: {each.id: each for each in computation.instructions}
            for computation in module.computations
        }
        self.trips: dict[int, int | None] = {}
        self.times: dict[int, int] = {}
        self._visit(normal_form.entry(module), None, 1)

    def _visit(self, computation: HloComputation, state: _Tuple | None, times: int) -> None:
        """Adds so many runs of a computation, and of those that it calls.

        What is known of its parameter's tuple is its state.
        """
        self.times[computation.id] = self.times.get(computation.id, 0) + times
        for instruction in computation.instructions:
            inner, known = times, None
            if instruction.opcode == "while":
                start = self._start(computation, instruction, state)
                trips = self.trips[instruction.id] = self._trips(instruction, start)
                inner *= 1 if trips is None else trips
                steps = self._steps(instruction)
                known = [value if step == 0 else None for value, step in zip(start, steps)]
            for called in instruction.called_computation_ids:
                self._visit(self._computations[called], known, inner)

    def _start(
        self, computation: HloComputation, loop: HloInstruction, state: _Tuple | None
    ) -> _Tuple:
        """Returns the elements of a loop's tuple before the first trip."""
        start = self._value(computation, loop.operand_ids[0], state)
        return start if isinstance(start, list) else [None] * len(loop.shape.tuple_shapes)

    def _steps(self, loop: HloInstruction) -> list[int | None]:
        """Returns what a trip adds to each element of a loop's tuple; None if no constant."""
        body, _ = self._body_and_condition(loop)
        before = _elements(loop)
        after = self._value(body, body.root_id, before) or [None] * len(before)
        return [
            each.constant if isinstance(each, Linear) and each.element == index else None
            for index, each in enumerate(after)
        ]

    def _trips(self, loop: HloInstruction, start: _Tuple) -> int | None:
        """Returns how often the body of a loop runs, None if unknown."""
        _, condition = self._body_and_condition(loop)
        steps = self._steps(loop)
        counts: list[int] = []
        for comparison in self._conjuncts(condition, condition.root_id):
            sides = [
                self._value(condition, each, _elements(loop)) for each in comparison.operand_ids
            ]
            if comparison.opcode != "compare" or not all(isinstance(x, Linear) for x in sides):
                return None
            first: list[Any] = [_at(each, start) for each in sides]
            added: list[Any] = [
                0 if each.element is None else steps[each.element] for each in sides
            ]
            if None in first or None in added:
                return None
            gap, step = (left - right for left, right in (first, added))
            count = _count(gap, step, comparison.comparison_direction)
            if count is None:
                return None
            counts.append(count)
        return min(counts)

    def _body_and_condition(self, loop: HloInstruction) -> tuple[HloComputation, HloComputation]:
        """Returns (body, condition), in whatever order the loop lists them."""
        one, other = [self._computations[each] for each in loop.called_computation_ids]
        is_body = self._instructions[one.id][one.root_id].opcode == "tuple"
        return (one, other) if is_body else (other, one)

    def _conjuncts(self, computation: HloComputation, number: int) -> list[HloInstruction]:
        """Returns the comparisons that are all true if a condition is."""
        instruction = self._instructions[computation.id][number]
        if instruction.opcode != "and":
            return [instruction]
        return sum([self._conjuncts(computation, each) for each in instruction.operand_ids], [])

    def _value(self, computation: HloComputation, number: int, state: _Tuple | None) -> Any:
        """Returns what an instruction computes: a `Linear`, a list for a tuple, None if unknown."""
        instruction = self._instructions[computation.id][number]
        opcode, operands = instruction.opcode, instruction.operand_ids
        if opcode == "constant":
            value = _integer(instruction.literal)
            return None if value is None else Linear(None, value)
        if opcode == "parameter":
            return state
        if opcode == "tuple":
            return [self._value(computation, each, state) for each in operands]
        if opcode == "get-tuple-element":
            whole = self._value(computation, operands[0], state)
            return whole[instruction.tuple_index] if isinstance(whole, list) else None
        if opcode in _SAME_NUMBER:
            return self._value(computation, operands[0], state)
        if opcode in ("add", "subtract") and not instruction.shape.dimensions:
            left, right = [self._value(computation, each, state) for each in operands]
            return _sum(left, right, 1 if opcode == "add" else -1)
        trips = self.trips.get(instruction.id)
        if opcode == "while" and trips is not None:
            start, steps = self._start(computation, instruction, state), self._steps(instruction)
            return [
                None if step is None else _sum(value, Linear(None, step * trips), 1)
                for value, step in zip(start, steps)
            ]
        return None


def _elements(loop: HloInstruction) -> _Tuple:
    """Returns the elements of a loop's tuple, whatever they are."""
    return [Linear(index, 0) for index in range(len(loop.shape.tuple_shapes))]


def _at(value: Linear, start: _Tuple) -> int | None:
    """Returns a number before the first trip, None if it is no constant."""
    if value.element is None:
        return value.constant
    found = start[value.element]
    is_constant = isinstance(found, Linear) and found.element is None
    return found.constant + value.constant if is_constant else None


def _count(gap: int, step: int, direction: str) -> int | None:
    """Returns how often a gap, which grows by a step, compares true to 0; None if for ever."""
    if direction in ("GT", "GE"):
        gap, step, direction = -gap, -step, {"GT": "LT", "GE": "LE"}[direction]
    if direction == "LE":
        gap, direction = gap - 1, "LT"
    if direction == "LT":
        if gap >= 0:
            return 0
        return -(gap // step) if step > 0 else None
    if direction == "NE" and gap == 0:
        return 0
    is_met = direction == "NE" and step != 0 and gap % step == 0 and -gap // step > 0
    return -gap // step if is_met else None


def _sum(left: Any, right: Any, sign: int) -> Linear | None:
    """Returns the sum of two `Linear`s, or their difference; None if it is none."""
    if not isinstance(left, Linear) or not isinstance(right, Linear):
        return None
    if right.element is None:
        return Linear(left.element, left.constant + sign * right.constant)
    if left.element is None and sign == 1:
        return Linear(right.element, left.constant + right.constant)
    return None


def _integer(literal: Any) -> int | None:
    """Returns the number of an integer's literal, None of others."""
    for field in (literal.s32s, literal.s64s, literal.u32s, literal.u64s):
        if len(field) == 1:
            return field[0]
    return None
