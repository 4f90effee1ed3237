"""How often the loops of a program run: read off their conditions, bodies and first values."""

import typing

from tpudist.tools.compile.hlo import normal_form

#: Ops that hand a number on, and how a sum of two is made.
_SAME = ("copy", "convert", "bitcast", "reshape", "copy-done", "copy-start")


class Linear(typing.NamedTuple):
    """An integer: a constant, or an element of the computation's tuple and a constant."""

    element: typing.Optional[int]
    constant: int


class Program:
    """A module, and what is known of its loops.

    Args:
      module: a `messages.Module`.

    Attributes:
      trips: {id of a while instruction: how often its body runs, None if unknown}.
      times: {id of a computation: how often it runs in one step}; a loop whose
        count is unknown runs once, a branch as often as its conditional.
    """

    def __init__(self, module):
        self.module = module
        self.computations = {each.id: each for each in module.computations}
        self._instructions = {
            computation.id: {each.id: each for each in computation.instructions}
            for computation in module.computations
        }
        self.trips, self.times = {}, {}
        self._walk(normal_form.entry(module), {}, 1)

    def _walk(self, computation, first, times):
        """Counts a computation that runs `times` more often.

        Args:
          computation: the computation.
          first: {element of its tuple: its constant value}.
          times: how often.
        """
        self.times[computation.id] = self.times.get(computation.id, 0) + times
        for instruction in computation.instructions:
            inner, known = times, {}
            if instruction.opcode == "while":
                trips = self._trips(computation, instruction, first)
                self.trips[instruction.id] = trips
                inner *= 1 if trips is None else trips
                known = self._invariants(computation, instruction, first)
            for called in instruction.called_computation_ids:
                self._walk(self.computations[called], known, inner)

    def _trips(self, computation, loop, first):
        body, condition = self._parts(loop)
        counts = [
            self._of_comparison(computation, loop, body, condition, compared, first)
            for compared in self._conjuncts(condition, condition.root_id)
        ]
        return None if None in counts else min(counts)

    def _parts(self, loop):
        """(body, condition), in whatever order they are called."""
        one, other = [self.computations[each] for each in loop.called_computation_ids]
        return (one, other) if self._root(one).opcode == "tuple" else (other, one)

    def _root(self, computation):
        return self._instructions[computation.id][computation.root_id]

    def _conjuncts(self, computation, number):
        """The comparisons that a condition is all of."""
        instruction = self._instructions[computation.id][number]
        if instruction.opcode == "and":
            return [
                each
                for operand in instruction.operand_ids
                for each in self._conjuncts(computation, operand)
            ]
        return [instruction]

    def _of_comparison(self, outer, loop, body, condition, compared, first):
        """How often the body runs until a comparison is false; None if unknown."""
        if compared.opcode != "compare":
            return None
        left, right = [self._linear(condition, each) for each in compared.operand_ids]
        direction = compared.comparison_direction
        if left is None or right is None:
            return None
        if left.element is None or self._step(body, left.element) == 0:
            left, right, direction = right, left, _TURNED[direction]
        step = left.element is not None and self._step(body, left.element)
        start = self._start(outer, loop, left, first)
        end = self._start(outer, loop, right, first)
        if not step or start is None or end is None:
            return None
        if right.element is not None and self._step(body, right.element) != 0:
            return None
        return _count(start, end, step, direction)

    def _start(self, outer, loop, value, first):
        """The value before the first round, None if it is no constant."""
        if value.element is None:
            return value.constant
        found = self._element(outer, loop.operand_ids[0], value.element, first)
        return None if found is None else found + value.constant

    def _step(self, body, element):
        """What a round adds to an element of the loop's tuple; None if it is no constant."""
        root = self._root(body)
        if root.opcode != "tuple":
            return None
        found = self._linear(body, root.operand_ids[element])
        return found.constant if found is not None and found.element == element else None

    def _invariants(self, computation, loop, first):
        """{element: value} of what the loop is given and does not change."""
        body, _ = self._parts(loop)
        found = {}
        for element in range(len(loop.shape.tuple_shapes)):
            if self._step(body, element) == 0:
                value = self._element(computation, loop.operand_ids[0], element, first)
                if value is not None:
                    found[element] = value
        return found

    def _element(self, computation, number, element, first):
        """The constant that an element of a tuple is, else None."""
        instruction = self._instructions[computation.id][number]
        if instruction.opcode == "tuple":
            return self._constant(computation, instruction.operand_ids[element], first)
        if instruction.opcode == "parameter":
            return first.get(element)
        if instruction.opcode == "while":
            start = self._element(computation, instruction.operand_ids[0], element, first)
            step = self._step(self._parts(instruction)[0], element)
            trips = self.trips.get(instruction.id)
            known = start is not None and step is not None and trips is not None
            return start + step * trips if known else None
        return None

    def _constant(self, computation, number, first):
        found = self._linear(computation, number, first)
        return found.constant if found is not None and found.element is None else None

    def _linear(self, computation, number, first=None):
        """An instruction's integer as a `Linear`, None if it is something else."""
        instruction = self._instructions[computation.id][number]
        if instruction.opcode == "constant":
            value = _integer(instruction.literal)
            return None if value is None else Linear(None, value)
        if instruction.opcode in _SAME:
            return self._linear(computation, instruction.operand_ids[0], first)
        if instruction.opcode == "get-tuple-element":
            return self._taken(computation, instruction, first)
        if instruction.opcode in ("add", "subtract"):
            left, right = [self._linear(computation, x, first) for x in instruction.operand_ids]
            return _sum(left, right, 1 if instruction.opcode == "add" else -1)
        return None

    def _taken(self, computation, instruction, first):
        source = self._instructions[computation.id][instruction.operand_ids[0]]
        if source.opcode == "parameter" and first is None:
            return Linear(instruction.tuple_index, 0)
        value = self._element(computation, source.id, instruction.tuple_index, first or {})
        return None if value is None else Linear(None, value)


#: Comparisons with their sides turned.
_TURNED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}


def _count(start, end, step, direction):
    """How often a counter is compared true, None if for ever or by chance."""
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


def _sum(left, right, sign):
    if left is None or right is None:
        return None
    if right.element is None:
        return Linear(left.element, left.constant + sign * right.constant)
    if left.element is None and sign == 1:
        return Linear(right.element, left.constant + right.constant)
    return None


def _integer(literal):
    """The number of an integer's literal, None of others."""
    for field in (literal.s32s, literal.s64s, literal.u32s, literal.u64s):
        if len(field) == 1:
            return field[0]
    return None
