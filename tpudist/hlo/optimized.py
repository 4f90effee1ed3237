"""What is read off the program that the TPU compiler made."""

import collections
import json
import typing

from tpudist.hlo import messages, normal_form, shapes


class Placed(typing.NamedTuple):
    """A parameter on one device: dtype name, shape, bytes with and without padding."""

    dtype: str
    shape: tuple
    bytes: int
    unpadded: int


class Cost(typing.NamedTuple):
    """What the compiler thinks of one instruction.

    Args:
      cycles: its estimate; for comparing instructions of one program.
      op_name: of the TensorFlow op that it came from, "" if unknown.
      shape: of its result, as text.
    """

    cycles: int
    op_name: str
    shape: str


def module(program):
    """The module of an optimized program.

    Args:
      program: bytes of a HloModuleProtoWithConfig.

    Returns:
      A `messages.Module`.
    """
    return messages.ModuleWithConfig.FromString(program).module


def parameters(found):
    """{number: Placed} of the entry computation's parameters.

    Args:
      found: a `messages.Module`.
    """
    return {
        each.parameter_number: Placed(
            shapes.element(each.shape).name,
            tuple(each.shape.dimensions),
            shapes.tiled_bytes(each.shape),
            shapes.logical_bytes(each.shape),
        )
        for each in normal_form.entry(found).instructions
        if each.opcode == "parameter"
    }


def collectives(found):
    """{kind: (count, bytes that one device puts in)}; loop bodies count once.

    Args:
      found: a `messages.Module`, optimized or not.
    """
    totals = collections.OrderedDict()
    for computation in found.computations:
        by_id = {each.id: each for each in computation.instructions}
        for instruction in computation.instructions:
            kind = _collective(instruction.opcode, computation.name)
            if kind:
                size = sum(
                    shapes.logical_bytes(by_id[operand].shape)
                    for operand in instruction.operand_ids
                )
                count, total = totals.get(kind, (0, 0))
                totals[kind] = count + 1, total + size
    return totals


def _collective(opcode, inside):
    """The kind of an opcode that begins a collective; None of others.

    Over many devices libtpu makes an all-reduce of three: it scatters along
    one axis, reduces along the other, and gathers. Its HLO has an all-reduce
    for each, in a computation that is named after what it does.
    """
    kind = opcode[: -len("-start")] if opcode.endswith("-start") else opcode
    if kind == "all-reduce" and inside.startswith("all-reduce-scatter"):
        kind = "reduce-scatter"
    elif kind == "all-reduce" and inside.startswith("all-gather"):
        kind = "all-gather"
    return kind if kind in normal_form.COLLECTIVES else None


def loops(found):
    """How many while loops there are.

    Args:
      found: a `messages.Module`.
    """
    return sum(
        instruction.opcode == "while"
        for computation in found.computations
        for instruction in computation.instructions
    )


def costs(found):
    """[Cost, ...] of the instructions that the compiler has an estimate of, dearest first.

    Args:
      found: a `messages.Module`.
    """
    by_id = {each.id: each for each in found.computations}
    made = []
    for computation in found.computations:
        for instruction in computation.instructions:
            cycles = _cycles(instruction.backend_config)
            if cycles:
                made.append(
                    Cost(cycles, _op_name(instruction, by_id), shapes.text(instruction.shape))
                )
    return sorted(made, key=lambda cost: -cost.cycles)


def _op_name(instruction, by_id):
    """The instruction's own, else that of the last fused into it that has one."""
    if instruction.metadata.op_name:
        return instruction.metadata.op_name
    names = [
        inner.metadata.op_name
        for called in instruction.called_computation_ids
        for inner in by_id[called].instructions
    ]
    return next(filter(None, reversed(names)), "")


def _cycles(config):
    """``window_config.estimated_cycles`` of a backend_config, else 0."""
    if b"estimated_cycles" not in config:
        return 0
    try:
        return int(json.loads(config.decode())["window_config"]["estimated_cycles"])
    except (ValueError, KeyError, TypeError):  # another libtpu's form
        return 0


def largest(found, count):
    """[(bytes, op_name, shape as text), ...] of the largest arrays computed.

    Args:
      found: a `messages.Module`; before optimization, of what the user wrote.
      count: how many.
    """
    arrays = {}
    for computation in found.computations:
        for instruction in computation.instructions:
            if instruction.opcode not in _NO_ARRAY and not instruction.sharding.ByteSize():
                key = instruction.metadata.op_name, shapes.text(instruction.shape)
                arrays[key] = shapes.logical_bytes(instruction.shape)
    ranked = sorted(arrays.items(), key=lambda item: (-item[1], item[0]))
    return [(size, name, shape) for (name, shape), size in ranked[:count]]


_NO_ARRAY = (
    "parameter",
    "tuple",
    "get-tuple-element",
    "bitcast",
    "constant",
    "broadcast",
    "iota",
    "reshape",
    "while",
    "conditional",
    "call",
)
