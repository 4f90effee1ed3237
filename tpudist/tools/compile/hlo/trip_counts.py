"""Finds how often the loops of a program run, from their conditions, bodies and initial values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, NamedTuple

from tpudist.tools.compile.hlo import normal_form

if TYPE_CHECKING:
    from tpudist.tools.compile.hlo.messages import HloComputation, HloInstruction, HloModule

#: Opcodes whose result is the number that the operand is.
_SAME_NUMBER = ("copy", "convert", "bitcast", "reshape", "copy-done", "copy-start")


class Linear(NamedTuple):
    """An integer: a constant, or an element of the computation's tuple plus a constant."""

    element: int | None
    constant: int


class Program:
    """A module with the trip counts of its loops.

    Attributes:
      trips: {id of a while instruction: how often its body runs, None if unknown}.
      times: {id of a computation: how often it runs in one step}; a loop whose
        count is unknown runs once, a branch as often as its conditional.
    """

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.computations = {each.id: each for each in module.computations}
        self._instructions = {
            computation.id: {each.id: each for each in computation.instructions}
            for computation in module.computations
        }
        self.trips: dict[int, int | None] = {}
        self.times: dict[int, int] = {}
        self._visit(normal_form.entry(module), {}, 1)

    def _visit(self, computation: HloComputation, initial: Mapping[int, int], times: int) -> None:
        """Adds runs of a computation, and of those that it calls.

        Args:
          computation: the computation.
          initial: {element of its parameter's tuple: constant value}.
          times: how often it runs.
        """
        self.times[computation.id] = self.times.get(computation.id, 0) + times
        for instruction in computation.instructions:
            inner, known = times, {}
            if instruction.opcode == "while":
                trips = self._trips(computation, instruction, initial)
                self.trips[instruction.id] = trips
                inner *= 1 if trips is None else trips
                known = self._invariants(computation, instruction, initial)
            for called in instruction.called_computation_ids:
                self._visit(self.computations[called], known, inner)

    def _trips(
        self, computation: HloComputation, loop: HloInstruction, initial: Mapping[int, int]
    ) -> int | None:
        """Returns how often the body of a loop runs, None if unknown."""
        _, condition = self._body_and_condition(loop)
        counts = [
            self._trips_of_comparison(computation, loop, comparison, initial)
            for comparison in self._conjuncts(condition, condition.root_id)
        ]
        known = [each for each in counts if each is not None]
        return min(known) if len(known) == len(counts) else None

    def _body_and_condition(self, loop: HloInstruction) -> tuple[HloComputation, HloComputation]:
        """Returns (body, condition), in whatever order the loop lists them."""
        one, other = [self.computations[each] for each in loop.called_computation_ids]
        return (one, other) if self._root(one).opcode == "tuple" else (other, one)

    def _root(self, computation: HloComputation) -> HloInstruction:
        return self._instructions[computation.id][computation.root_id]

    def _conjuncts(self, computation: HloComputation, number: int) -> list[HloInstruction]:
        """Returns the comparisons that are all true if a condition is."""
        instruction = self._instructions[computation.id][number]
        if instruction.opcode == "and":
            return [
                each
                for operand in instruction.operand_ids
                for each in self._conjuncts(computation, operand)
            ]
        return [instruction]

    def _trips_of_comparison(
        self,
        outer: HloComputation,
        loop: HloInstruction,
        comparison: HloInstruction,
        initial: Mapping[int, int],
    ) -> int | None:
        """Returns how often the body runs until a comparison is false; None if unknown."""
        if comparison.opcode != "compare":
            return None
        body, condition = self._body_and_condition(loop)
        left, right = [self._linear(condition, each) for each in comparison.operand_ids]
        direction = comparison.comparison_direction
        if left is None or right is None:
            return None
        if left.element is None or self._increment(body, left.element) == 0:
            left, right, direction = right, left, _MIRRORED[direction]
        step = None if left.element is None else self._increment(body, left.element)
        start = self._initial_value(outer, loop, left, initial)
        end = self._initial_value(outer, loop, right, initial)
        if not step or start is None or end is None:
            return None
        if right.element is not None and self._increment(body, right.element) != 0:
            return None
        return _count(start, end, step, direction)

    def _initial_value(
        self, outer: HloComputation, loop: HloInstruction, value: Linear, initial: Mapping[int, int]
    ) -> int | None:
        """Returns a value before the first trip, None if it is no constant."""
        if value.element is None:
            return value.constant
        start = self._element(outer, loop.operand_ids[0], value.element, initial)
        return None if start is None else start + value.constant

    def _increment(self, body: HloComputation, element: int) -> int | None:
        """Returns what a trip adds to an element of the loop's tuple; None if no constant."""
        root = self._root(body)
        if root.opcode != "tuple":
            return None
        after = self._linear(body, root.operand_ids[element])
        return after.constant if after is not None and after.element == element else None

    def _invariants(
        self, computation: HloComputation, loop: HloInstruction, initial: Mapping[int, int]
    ) -> dict[int, int]:
        """Returns {element: value} of the constants that the loop does not change."""
        body, _ = self._body_and_condition(loop)
        invariants = {}
        for element in range(len(loop.shape.tuple_shapes)):
            if self._increment(body, element) == 0:
                value = self._element(computation, loop.operand_ids[0], element, initial)
                if value is not None:
                    invariants[element] = value
        return invariants

    def _element(
        self, computation: HloComputation, number: int, element: int, initial: Mapping[int, int]
    ) -> int | None:
        """Returns the constant that an element of a tuple is, else None."""
        instruction = self._instructions[computation.id][number]
        if instruction.opcode == "tuple":
            value = self._linear(computation, instruction.operand_ids[element], initial)
            return value.constant if value is not None and value.element is None else None
        if instruction.opcode == "parameter":
            return initial.get(element)
        if instruction.opcode == "while":
            start = self._element(computation, instruction.operand_ids[0], element, initial)
            step = self._increment(self._body_and_condition(instruction)[0], element)
            trips = self.trips.get(instruction.id)
            if start is not None and step is not None and trips is not None:
                return start + step * trips
        return None

    def _linear(
        self, computation: HloComputation, number: int, initial: Mapping[int, int] | None = None
    ) -> Linear | None:
        """Returns an instruction's integer as a `Linear`, None if it is something else.

        Args:
          computation: that has the instruction.
          number: its id.
          initial: values of the parameter's elements; None leaves an element a variable.
        """
        instruction = self._instructions[computation.id][number]
        if instruction.opcode == "constant":
            value = _integer(instruction.literal)
            return None if value is None else Linear(None, value)
        if instruction.opcode in _SAME_NUMBER:
            return self._linear(computation, instruction.operand_ids[0], initial)
        if instruction.opcode == "get-tuple-element":
            return self._tuple_element(computation, instruction, initial)
        if instruction.opcode in ("add", "subtract"):
            left, right = [self._linear(computation, x, initial) for x in instruction.operand_ids]
            return _sum(left, right, 1 if instruction.opcode == "add" else -1)
        return None

    def _tuple_element(
        self,
        computation: HloComputation,
        instruction: HloInstruction,
        initial: Mapping[int, int] | None,
    ) -> Linear | None:
        source = self._instructions[computation.id][instruction.operand_ids[0]]
        if source.opcode == "parameter" and initial is None:
            return Linear(instruction.tuple_index, 0)
        value = self._element(computation, source.id, instruction.tuple_index, initial or {})
        return None if value is None else Linear(None, value)


#: Directions of comparisons whose sides are swapped.
_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}


def _count(start: int, end: int, step: int, direction: str) -> int | None:
    """Returns how often a counter is compared true; None if for ever, or unknown."""
    if direction in ("GT", "GE"):
        start, end, step = -start, -end, -step
        direction = {"GT": "LT", "GE": "LE"}[direction]
    if direction == "LE":
        end, direction = end + 1, "LT"
    if direction == "LT":
        if start >= end:
            return 0
        return -(-(end - start) // step) if step > 0 else None
    if direction == "NE" and (end - start) % step == 0 and (end - start) // step >= 0:
        return (end - start) // step
    return None


def _sum(left: Linear | None, right: Linear | None, sign: int) -> Linear | None:
    if left is None or right is None:
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
