"""Reads parameters, collectives, loops and costs off the program that the compiler made."""

from __future__ import annotations

import collections
import json
from typing import Mapping, NamedTuple, Sequence

from tpudist.tools.compile.hlo import messages, normal_form, work
from tpudist.tools.compile.hlo.messages import HloComputation, HloInstruction, HloModule
from tpudist.tools.compile.hlo.trip_counts import Program


class DeviceParameter(NamedTuple):
    """A parameter on one device: dtype name, shape, bytes with and without padding."""

    dtype: str
    shape: tuple[int, ...]
    bytes: int
    unpadded: int


class Cost(NamedTuple):
    """What one TensorFlow op of one instruction costs in one step, all trips of loops included."""

    # of the TensorFlow op, "" if unknown. The cost of a fused instruction is divided among its ops
    # by their FLOPs
    op_name: str
    instruction: str  # its name in the compiled program
    times: int  # how often it runs
    cycles: float  # the compiler's estimate; for comparing ops of one program
    # computed, and moved to and from the device's memory
    flops: float
    bytes: float
    sent: float  # bytes that a device puts into the op's collectives


class Loop(NamedTuple):
    """A loop: the op it comes from, how often its body runs (None if unknown), and how
    often the loop itself runs in one step."""

    op_name: str
    trips: int | None
    times: int


def module(program: bytes) -> HloModule:
    """Parses the module of an optimized program, a serialized HloModuleProtoWithConfig."""
    return messages.ModuleWithConfig.FromString(program).module


def parameters(module: HloModule) -> dict[int, DeviceParameter]:
    """Returns {number: `DeviceParameter`} of the entry computation's parameters."""
    return {
        each.parameter_number: DeviceParameter(
            messages.element(each.shape).name,
            tuple(each.shape.dimensions),
            messages.tiled_bytes(each.shape),
            messages.logical_bytes(each.shape),
        )
        for each in normal_form.entry(module).instructions
        if each.opcode == "parameter"
    }


def collectives(program: Program) -> dict[str, tuple[int, int]]:
    """Returns {kind: (count, bytes that one device puts in)} of one step, all trips included."""
    totals: dict[str, tuple[int, int]] = collections.OrderedDict()
    for computation in program.module.computations:
        by_id = {each.id: each for each in computation.instructions}
        times = program.times.get(computation.id, 0)
        for instruction in computation.instructions:
            kind = _collective_kind(instruction.opcode, computation.name)
            if kind and times:
                size = _sent_bytes(kind, instruction, by_id)
                count, total = totals.get(kind, (0, 0))
                totals[kind] = count + times, total + size * times
    return totals


def _sent_bytes(kind: str, instruction: HloInstruction, by_id: Mapping[int, HloInstruction]) -> int:
    """Returns the bytes that a device puts into a collective.

    Where libtpu writes an all-gather as a sum, the device puts in its own slice of the
    operand.
    """
    operands = [by_id[each] for each in instruction.operand_ids]
    if kind == "all-gather":
        operands = [
            by_id[each.operand_ids[1]] if each.opcode == "dynamic-update-slice" else each
            for each in operands
        ]
    return sum(messages.logical_bytes(each.shape) for each in operands)


def _collective_kind(opcode: str, computation: str) -> str | None:
    """Returns the kind of collective that an opcode begins; None of other opcodes.

    Over many devices libtpu replaces an all-reduce by three: a scatter along one
    axis, a reduction along the other, and a gather. Its HLO has an all-reduce for
    each, in a computation that is named after what it does.
    """
    kind = opcode[: -len("-start")] if opcode.endswith("-start") else opcode
    if kind == "all-reduce" and computation.startswith("all-reduce-scatter"):
        kind = "reduce-scatter"
    elif kind == "all-reduce" and computation.startswith("all-gather"):
        kind = "all-gather"
    return kind if kind in normal_form.COLLECTIVES else None


def loops(program: Program) -> list[Loop]:
    """Returns a `Loop` for each loop of a program."""
    return [
        Loop(each.metadata.op_name, program.trips[each.id], program.times[computation.id])
        for computation in program.module.computations
        for each in computation.instructions
        if each.id in program.trips
    ]


class Costs:
    """The costs of a compiled program's instructions.

    Attributes:
      rows: `Cost` records, those with the most cycles first.
      once: (FLOPs, bytes) if each instruction ran once, as the compiler counts them.
      whole: (FLOPs, bytes) of one step, all trips of loops included.
    """

    def __init__(self, program: Program) -> None:
        module = program.module
        self._by_id = {each.id: each for each in module.computations}
        self._counter = work.Counter(module)
        self.rows: list[Cost] = []
        self.once, self.whole = (0, 0), (0, 0)
        fused = _fused(module)
        for computation in module.computations:
            if computation.id not in fused and computation.id in program.times:
                self._add(computation, program.times[computation.id])
        self.rows.sort(key=lambda cost: (-cost.cycles, -cost.bytes))

    def _add(self, computation: HloComputation, times: int) -> None:
        """Adds the costs of a computation that runs so often."""
        by_id = {each.id: each for each in computation.instructions}
        for each in computation.instructions:
            operands = [by_id[operand] for operand in each.operand_ids]
            flops = self._counter.flops(each, operands)
            moved = self._counter.bytes(each, operands)
            sent = self._sent(each, by_id, computation.name)
            self.once = self.once[0] + flops, self.once[1] + moved
            self.whole = self.whole[0] + times * flops, self.whole[1] + times * moved
            cycles = _cycles(each.backend_config)
            if cycles or sent or flops or moved:
                self._divide(each, times, (cycles, flops, moved, sent))

    def _sent(
        self,
        instruction: HloInstruction,
        by_id: Mapping[int, HloInstruction],
        computation_name: str,
    ) -> int:
        """Returns the bytes that a device puts into the collectives of an instruction."""
        kind = _collective_kind(instruction.opcode, computation_name)
        total = _sent_bytes(kind, instruction, by_id) if kind else 0
        for called in instruction.called_computation_ids if instruction.opcode == "fusion" else ():
            computation = self._by_id[called]
            inner = {each.id: each for each in computation.instructions}
            total += sum(
                self._sent(each, inner, computation.name) for each in computation.instructions
            )
        return total

    def _divide(self, instruction: HloInstruction, times: int, amounts: Sequence[int]) -> None:
        """Divides the cost of an instruction among its ops."""
        shares = self._shares(instruction)
        whole = sum(shares.values())
        for name, share in shares.items():
            parts = [times * amount * share / whole for amount in amounts]
            self.rows.append(Cost(name, instruction.name, times, *parts))

    def _shares(self, instruction: HloInstruction) -> dict[str, int]:
        """Returns {op_name: its FLOPs} of the ops in an instruction."""
        if instruction.opcode != "fusion":
            return {instruction.metadata.op_name: 1}
        shares: dict[str, int] = collections.OrderedDict()
        for called in instruction.called_computation_ids:
            computation = self._by_id[called]
            by_id = {each.id: each for each in computation.instructions}
            for each in computation.instructions:
                operands = [by_id[operand] for operand in each.operand_ids]
                flops = self._counter.flops(each, operands)
                if flops and each.metadata.op_name:
                    name = each.metadata.op_name
                    shares[name] = shares.get(name, 0) + flops
        return shares or {_op_name(instruction, self._by_id): 1}


def _fused(module: HloModule) -> set[int]:
    """Returns the ids of the computations that are part of an instruction."""
    return {
        called
        for computation in module.computations
        for each in computation.instructions
        if each.opcode not in ("while", "conditional", "call")
        for called in each.called_computation_ids
    }


def _op_name(instruction: HloInstruction, by_id: Mapping[int, HloComputation]) -> str:
    """Returns the instruction's own op name, else the last one that is fused into it."""
    if instruction.metadata.op_name:
        return instruction.metadata.op_name
    names = [
        inner.metadata.op_name
        for called in instruction.called_computation_ids
        for inner in by_id[called].instructions
    ]
    return next(filter(None, reversed(names)), "")


def _cycles(config: bytes) -> int:
    """Returns the cycles that the compiler estimates in an instruction's config, 0 if none."""
    if b"estimated_cycles" not in config:
        return 0
    try:
        return int(json.loads(config.decode())["window_config"]["estimated_cycles"])
    except (ValueError, KeyError, TypeError):  # the form of another release of libtpu
        return 0


def largest_arrays(module: HloModule, count: int) -> list[tuple[int, str, str]]:
    """Returns (bytes, op_name, shape as text) of each of the largest arrays computed.

    The module is the one before optimization, whose ops are the user's.
    """
    arrays = {}
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.opcode not in _NOT_COMPUTED and not instruction.sharding.ByteSize():
                key = instruction.metadata.op_name, messages.shape_text(instruction.shape)
                arrays[key] = messages.logical_bytes(instruction.shape)
    ranked = sorted(arrays.items(), key=lambda item: (-item[1], item[0]))
    return [(size, name, shape) for (name, shape), size in ranked[:count]]


#: Opcodes that compute no array of their own.
_NOT_COMPUTED = frozenset(
    "parameter tuple get-tuple-element bitcast constant broadcast iota reshape while conditional "
    "call".split()
)
