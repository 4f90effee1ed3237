"""Which arrays a compiled program holds in the device's memory, instruction by instruction.

The compiler tells how much a program takes, not what of: that is simulated here, along
its schedule. An array lives from the instruction that makes it to the last that takes
it; loops work in place, and an array may take the place of an operand that ends there.
"""

from __future__ import annotations

import typing

from tpudist.tools.compile.hlo import normal_form, shapes

#: Where `layout.memory_space` is the device's memory.
_HBM = 0

#: Ops whose result is part of an operand: the place in its tuple, None for all of it.
_PARTS = {
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

#: Ops whose tuple begins with what they make, or with what they take.
_TAKEN_SECOND = ("copy-start",)
_TAKEN_FIRST = ("async-start", "all-gather-start", "collective-permute-start")

#: Ops that may write over an operand that is not needed after them.
_IN_PLACE = frozenset(
    "fusion dynamic-update-slice scatter all-reduce add subtract multiply divide maximum "
    "minimum select convert tanh exponential negate".split()
)

_INNER = ("while", "conditional", "call")


class Held(typing.NamedTuple):
    """An array that is held: bytes, its op's name, shape as text, and the number of the
    program's parameter that it is, or None."""

    bytes: int
    op_name: str
    shape: str
    parameter: int | None


class Course(typing.NamedTuple):
    """Memory over a program.

    Args:
      bytes: held at each instruction of the schedule, in its order.
      alive: `Held` records of the arrays at the first instruction that holds most, the
        largest first.
    """

    bytes: list[int]
    alive: list[Held]


class _Array:
    """One array: its size, who made it, and the last instruction that takes it."""

    def __init__(self, size: int, made_by: typing.Any, shape: typing.Any) -> None:
        self.size, self.made_by, self.shape, self.last = size, made_by, shape, -1

    def held(self) -> Held:
        is_parameter = self.made_by.opcode == "parameter"
        return Held(
            self.size,
            "" if is_parameter else self.made_by.metadata.op_name,
            shapes.text(self.shape),
            self.made_by.parameter_number if is_parameter else None,
        )


def course(module: typing.Any) -> Course | None:
    """The memory of a program over its schedule.

    Args:
      module: a `messages.Module` of a compiled program.

    Returns:
      A `Course`; None if the module has no schedule.
    """
    orders = {each.key: list(each.value.instruction_ids) for each in module.schedule.sequences}
    entry = normal_form.entry(module)
    if entry.id not in orders:
        return None
    computations = {each.id: each for each in module.computations}
    written = {
        each.output_shape_index[0]
        for each in module.input_output_alias.entries
        if each.output_shape_index
    }
    return _Computation(entry, orders, computations, True).course(written)


class _Computation:
    def __init__(
        self,
        computation: typing.Any,
        orders: dict[int, list[int]],
        computations: dict[int, typing.Any],
        is_entry: bool,
    ) -> None:
        self._orders, self._computations, self._is_entry = orders, computations, is_entry
        by_id = {each.id: each for each in computation.instructions}
        order = orders.get(computation.id) or [each.id for each in computation.instructions]
        self._order = [by_id[each] for each in order]
        self._root = computation.root_id
        self._values: dict[int, typing.Any] = {}
        self._made: dict[int, list[_Array]] = {}
        for place, instruction in enumerate(self._order):
            for operand in instruction.operand_ids:
                for array in _arrays(self._values[operand]):
                    array.last = place
            self._made[place] = []
            self._values[instruction.id] = self._value(instruction, place)
        for array in _arrays(self._values[self._root]):
            array.last = len(self._order)

    def course(self, written: typing.Container[int] | None) -> Course:
        """The computation's course.

        Args:
          written: places of results that are written over arguments; None for all.
        """
        root = self._values[self._root]
        for place, part in enumerate(root if isinstance(root, list) else [root]):
            if written is None or place in written:
                for array in _arrays(part):
                    if array.made_by.opcode != "parameter":
                        array.size = 0
        held = [each for made in self._made.values() for each in made if self._stays(each)]
        level, best, alive, found = sum(each.size for each in held), -1, [], []
        living = dict.fromkeys(held)
        for place, instruction in enumerate(self._order):
            new = [each for each in self._made[place] if not self._stays(each)]
            level -= self._take_over(instruction, place, new, living)
            for each in new:
                living[each] = None
                level += each.size
            inner = self._inner(instruction)
            total = level + (max(inner.bytes, default=0) if inner else 0)
            found.append(total)
            if total > best:
                best = total
                alive = [each.held() for each in living if each.size] + (inner or _NOTHING).alive
            for each in [each for each in living if each.last <= place]:
                if not self._stays(each):
                    del living[each]
                    level -= each.size
        return Course(found, sorted(alive, key=lambda each: (-each.bytes, each.op_name)))

    def _stays(self, array: _Array) -> bool:
        return array.made_by.opcode == "parameter"

    def _take_over(
        self, instruction: typing.Any, place: int, new: list[_Array], living: dict[_Array, None]
    ) -> int:
        """Ends operands whose place new arrays take; returns their bytes."""
        if instruction.opcode not in _IN_PLACE:
            return 0
        ended = 0
        ending = [
            array
            for operand in instruction.operand_ids
            for array in _arrays(self._values[operand])
            if array.last == place and array in living and not self._stays(array)
        ]
        for array in new:
            for other in ending:
                if other.size == array.size and other in living:
                    del living[other]
                    ended += other.size
                    break
        return ended

    def _inner(self, instruction: typing.Any) -> Course | None:
        """The largest of what an instruction's computations hold."""
        if instruction.opcode not in _INNER:
            return None
        courses = [
            _Computation(self._computations[each], self._orders, self._computations, False).course(
                None
            )
            for each in instruction.called_computation_ids
        ]
        return max(courses, key=lambda each: max(each.bytes, default=0), default=None)

    def _value(self, instruction: typing.Any, place: int) -> typing.Any:
        """What an instruction gives: an `_Array`, or a list for a tuple."""
        given = [self._values[each] for each in instruction.operand_ids]
        opcode = instruction.opcode
        if opcode == "tuple":
            return given
        if opcode == "get-tuple-element":
            return given[0][instruction.tuple_index]
        if opcode in _PARTS:
            part = _PARTS[opcode]
            return given[0] if part is None else given[0][part]
        made = self._fresh(instruction, instruction.shape, place)
        if opcode in _TAKEN_SECOND and isinstance(made, list):
            self._forget(made[1], place)
            made[1] = given[0]
        if opcode in _TAKEN_FIRST and isinstance(made, list):
            self._forget(made[0], place)
            made[0] = given if len(given) > 1 or isinstance(made[0], list) else given[0]
        return made

    def _fresh(self, instruction: typing.Any, shape: typing.Any, place: int) -> typing.Any:
        if shape.tuple_shapes:
            return [self._fresh(instruction, each, place) for each in shape.tuple_shapes]
        inside = instruction.opcode == "parameter" and not self._is_entry
        free = inside or instruction.opcode == "constant" or shape.layout.memory_space != _HBM
        array = _Array(0 if free else shapes.tiled_bytes(shape), instruction, shape)
        array.last = place
        self._made[place].append(array)
        return array

    def _forget(self, value: typing.Any, place: int) -> None:
        gone = list(_arrays(value))
        self._made[place] = [each for each in self._made[place] if each not in gone]


_NOTHING = Course([], [])


def _arrays(value: typing.Any) -> typing.Iterator[_Array]:
    if isinstance(value, list):
        for each in value:
            yield from _arrays(each)
    else:
        yield value
