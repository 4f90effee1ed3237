"""Finds how often the loops of a compiled program run.

The compiler's estimates are of one round, and its program does not say how many there are. So
the integers that a loop counts with are computed, from their first values until its condition
is false.
"""

from __future__ import annotations

import operator
from typing import Any, Callable

from tpudist.tools.compile.hlo import normal_form
from tpudist.tools.compile.hlo.messages import HloComputation, HloInstruction, HloModule

#: The most rounds that are computed; a loop of more is one of unknown rounds.
_MOST = 20000

#: Opcodes whose result is the number that the operand is.
_SAME_NUMBER = ("copy", "convert", "bitcast", "reshape", "copy-done", "copy-start")

_COMPARISONS: dict[str, Callable[[int, int], int]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "minimum": min,
    "maximum": max,
    "and": operator.and_,
}


class Program:
    """A module with the rounds of its loops.

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
        #: {id of a while instruction: what is known of its result's elements}.
        self._results: dict[int, list[Any]] = {}
        self._visit(normal_form.entry(module), None, 1)

    def _visit(self, computation: HloComputation, state: Any, times: int) -> None:
        """Adds so many runs of a computation, and of those that it calls.

        What is known of its parameter's tuple is its state.
        """
        self.times[computation.id] = self.times.get(computation.id, 0) + times
        for instruction in computation.instructions:
            inner, kept = times, None
            if instruction.opcode == "while":
                kept = self._run(computation, instruction, state)
                trips = self.trips[instruction.id]
                inner *= 1 if trips is None else trips
            for called in instruction.called_computation_ids:
                self._visit(self._computations[called], kept, inner)

    def _run(self, computation: HloComputation, loop: HloInstruction, state: Any) -> list[Any]:
        """Counts the rounds of a loop.

        Returns what is known of its tuple's elements in every round.
        """
        body, condition = self._body_and_condition(loop)
        unknown: list[Any] = [None] * len(loop.shape.tuple_shapes)
        now = self._value(computation, loop.operand_ids[0], state) or unknown
        after, kept = self._instructions[body.id][body.root_id].operand_ids, list(now)
        self.trips[loop.id], self._results[loop.id] = None, unknown
        for count in range(_MOST):
            holds = self._value(condition, condition.root_id, now)
            if holds is None:
                break
            if not holds:
                self.trips[loop.id], self._results[loop.id] = count, now
                return kept
            now = [
                None if before is None else self._value(body, each, now)
                for before, each in zip(now, after)
            ]
            kept = [before if before == each else None for before, each in zip(kept, now)]
        return unknown

    def _body_and_condition(self, loop: HloInstruction) -> tuple[HloComputation, HloComputation]:
        """Returns (body, condition), in whatever order the loop lists them."""
        one, other = [self._computations[each] for each in loop.called_computation_ids]
        is_body = self._instructions[one.id][one.root_id].opcode == "tuple"
        return (one, other) if is_body else (other, one)

    def _value(self, computation: HloComputation, number: int, state: Any) -> Any:
        """Returns an instruction's integer, a list for a tuple; None if it is not known."""
        instruction = self._instructions[computation.id][number]
        opcode, operands = instruction.opcode, instruction.operand_ids
        if opcode == "constant":
            return _integer(instruction.literal)
        if opcode == "parameter":
            return state
        if opcode == "while":
            return self._results.get(instruction.id)
        if opcode == "tuple":
            return [self._value(computation, each, state) for each in operands]
        if opcode == "get-tuple-element":
            whole = self._value(computation, operands[0], state)
            return whole[instruction.tuple_index] if isinstance(whole, list) else None
        if opcode in _SAME_NUMBER:
            return self._value(computation, operands[0], state)
        compute = _ARITHMETIC.get(opcode) or _COMPARISONS.get(instruction.comparison_direction)
        if compute is None or instruction.shape.dimensions:
            return None
        numbers = [self._value(computation, each, state) for each in operands]
        return compute(*numbers) if all(isinstance(each, int) for each in numbers) else None


def _integer(literal: Any) -> int | None:
    """Returns the number of an integer's literal, None of others."""
    for field in (literal.s32s, literal.s64s, literal.u32s, literal.u64s):
        if len(field) == 1:
            return field[0]
    return None
