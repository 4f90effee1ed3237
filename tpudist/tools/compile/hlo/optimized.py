"""Reads parameters, collectives, loops and costs off the program that the compiler made.

A loop's body counts once: the program does not say how often it runs, and the compiler's own
estimates are of one round.
"""

from __future__ import annotations

import collections
import json
from typing import Iterator, Mapping

from tpudist.tools.compile.hlo import messages, normal_form
from tpudist.tools.compile.hlo.messages import HloComputation, HloInstruction, HloModule


def module(program: bytes) -> HloModule:
    """Parses the module of an optimized program, a serialized HloModuleProtoWithConfig."""
    return messages.Program.FromString(program).hlo_module


def parameters(module: HloModule) -> dict[int, tuple[int, ...]]:
    """Returns {number: shape on one device} of the entry computation's parameters."""
    return {
        each.parameter_number: tuple(each.shape.dimensions)
        for each in normal_form.entry(module).instructions
        if each.opcode == "parameter"
    }


def collectives(module: HloModule) -> dict[str, tuple[int, int]]:
    """Returns {kind: (count, bytes that one device puts in)}."""
    totals: dict[str, tuple[int, int]] = collections.OrderedDict()
    for computation in module.computations:
        by_id = {each.id: each for each in computation.instructions}
        for instruction in computation.instructions:
            kind = _collective_kind(instruction.opcode, computation.name)
            if kind:
                count, total = totals.get(kind, (0, 0))
                totals[kind] = count + 1, total + _sent_bytes(kind, instruction, by_id)
    return totals


def _sent_bytes(kind: str, instruction: HloInstruction, by_id: Mapping[int, HloInstruction]) -> int:
    """Returns the bytes that a device puts in; an all-gather written as a sum has its slice."""
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


def loops(module: HloModule) -> list[str]:
    """Returns the op_name of each loop."""
    return [
        each.metadata.op_name
        for computation in module.computations
        for each in computation.instructions
        if each.opcode == "while"
    ]


def costs(module: HloModule) -> list[tuple[int, str, tuple[str, ...]]]:
    """Returns (cycles, instruction, its ops) of what the compiler has an estimate of, most first.

    Cycles compare instructions of one program; of the ops the first is what it is for.
    """
    by_id = {each.id: each for each in module.computations}
    found = [
        (_cycles(each.backend_config), each.name, _op_names(each, by_id))
        for computation in module.computations
        for each in computation.instructions
    ]
    return sorted((each for each in found if each[0]), key=lambda cost: (-cost[0], cost[1]))


def _cycles(config: bytes) -> int:
    """Returns the cycles that the compiler estimates in an instruction's config, 0 if none."""
    if b"estimated_cycles" not in config:
        return 0
    try:
        return int(json.loads(config.decode())["window_config"]["estimated_cycles"])
    except (ValueError, KeyError, TypeError):  # the form of another release of libtpu
        return 0


def _op_names(instruction: HloInstruction, by_id: Mapping[int, HloComputation]) -> tuple[str, ...]:
    """Returns the ops of an instruction: products and convolutions, its own, others in it."""
    inside = list(_fused(instruction, by_id))
    products = [each for each in inside if each.opcode in ("convolution", "dot")]
    names = [each.metadata.op_name for each in [*products, instruction, *reversed(inside)]]
    return tuple(dict.fromkeys(";".join(filter(None, names)).split(";")))


def _fused(
    instruction: HloInstruction, by_id: Mapping[int, HloComputation]
) -> Iterator[HloInstruction]:
    """Yields the instructions that are fused into one, at any depth."""
    for called in instruction.called_computation_ids if instruction.opcode == "fusion" else ():
        for each in by_id[called].instructions:
            yield each
            yield from _fused(each, by_id)


def largest_arrays(module: HloModule, count: int) -> list[tuple[int, str, str]]:
    """Returns (bytes, op_name, shape as text) of the largest arrays of an unoptimized module."""
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
