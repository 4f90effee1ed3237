"""What is read off the program that the TPU compiler made."""

import collections
import json
import typing

from tpudist.tools.compile.hlo import messages, normal_form, shapes, work


class Placed(typing.NamedTuple):
    """A parameter on one device: dtype name, shape, bytes with and without padding."""

    dtype: str
    shape: tuple
    bytes: int
    unpadded: int


class Cost(typing.NamedTuple):
    """What one TensorFlow op of one instruction costs in one step, loops multiplied.

    Args:
      op_name: of the TensorFlow op, "" if unknown. A fused instruction is shared
        out among the ops in it by what each computes.
      instruction: its name in the compiled program.
      times: how often it runs.
      cycles: the compiler's estimate; for comparing ops of one program.
      flops, bytes: what they compute, and move to and from the device's memory.
      sent: bytes that a device puts into their collectives.
    """

    op_name: str
    instruction: str
    times: int
    cycles: float
    flops: float
    bytes: float
    sent: float


class Loop(typing.NamedTuple):
    """A loop: the op it comes from, how often its body runs (None if unknown), and how
    often the loop itself runs in one step."""

    op_name: str
    trips: typing.Optional[int]
    times: int


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


def collectives(program):
    """{kind: (count, bytes that one device puts in)} of one step, loops multiplied.

    Args:
      program: a `trip_counts.Program`, optimized or not.
    """
    totals = collections.OrderedDict()
    for computation in program.module.computations:
        by_id = {each.id: each for each in computation.instructions}
        times = program.times.get(computation.id, 0)
        for instruction in computation.instructions:
            kind = _collective(instruction.opcode, computation.name)
            if kind and times:
                size = _put_in(kind, instruction, by_id)
                count, total = totals.get(kind, (0, 0))
                totals[kind] = count + times, total + size * times
    return totals


def _put_in(kind, instruction, by_id):
    """Bytes that a device puts in: of an all-gather that is a sum of parts, its own part."""
    given = [by_id[each] for each in instruction.operand_ids]
    if kind == "all-gather":
        given = [
            by_id[each.operand_ids[1]] if each.opcode == "dynamic-update-slice" else each
            for each in given
        ]
    return sum(shapes.logical_bytes(each.shape) for each in given)


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


def loops(program):
    """[Loop, ...] of a program.

    Args:
      program: a `trip_counts.Program`.
    """
    return [
        Loop(each.metadata.op_name, program.trips[each.id], program.times[computation.id])
        for computation in program.module.computations
        for each in computation.instructions
        if each.id in program.trips
    ]


class Costs:
    """What the instructions of a compiled program cost.

    Args:
      program: a `trip_counts.Program`.

    Attributes:
      rows: `Cost` records, the dearest first.
      once: (FLOPs, bytes) of every instruction once, as the compiler counts them.
      whole: (FLOPs, bytes) of one step, loops multiplied.
    """

    def __init__(self, program):
        module = program.module
        self._by_id = {each.id: each for each in module.computations}
        self._counter, self.rows = work.Counter(module), []
        self.once, self.whole = (0, 0), (0, 0)
        inner = _fused(module)
        for computation in module.computations:
            if computation.id not in inner and computation.id in program.times:
                self._count(computation, program.times[computation.id])
        self.rows.sort(key=lambda cost: (-cost.cycles, -cost.bytes))

    def _count(self, computation, times):
        by_id = {each.id: each for each in computation.instructions}
        for each in computation.instructions:
            operands = [by_id[operand] for operand in each.operand_ids]
            amounts = self._counter.flops(each, operands), self._counter.bytes(each, operands)
            sent = self._sent(each, by_id, computation.name)
            self.once = tuple(map(sum, zip(self.once, amounts)))
            self.whole = tuple(total + times * amount for total, amount in zip(self.whole, amounts))
            cycles = _cycles(each.backend_config)
            if cycles or sent or any(amounts):
                self._share_out(each, times, (cycles,) + amounts + (sent,))

    def _sent(self, instruction, by_id, inside):
        """Bytes that a device puts into an instruction's collectives."""
        kind = _collective(instruction.opcode, inside)
        total = _put_in(kind, instruction, by_id) if kind else 0
        for called in instruction.called_computation_ids if instruction.opcode == "fusion" else ():
            computation = self._by_id[called]
            inner = {each.id: each for each in computation.instructions}
            total += sum(
                self._sent(each, inner, computation.name) for each in computation.instructions
            )
        return total

    def _share_out(self, instruction, times, amounts):
        shares = self._shares(instruction)
        whole = sum(shares.values())
        for name, share in shares.items():
            parts = [times * amount * share / whole for amount in amounts]
            self.rows.append(Cost(name, instruction.name, times, *parts))

    def _shares(self, instruction):
        """{op_name: its part of what an instruction computes}."""
        if instruction.opcode != "fusion":
            return {instruction.metadata.op_name: 1}
        found = collections.OrderedDict()
        for called in instruction.called_computation_ids:
            computation = self._by_id[called]
            by_id = {each.id: each for each in computation.instructions}
            for each in computation.instructions:
                operands = [by_id[operand] for operand in each.operand_ids]
                amount = self._counter.flops(each, operands)
                if amount and each.metadata.op_name:
                    name = each.metadata.op_name
                    found[name] = found.get(name, 0) + amount
        return found or {_op_name(instruction, self._by_id): 1}


def _fused(module):
    """Ids of the computations that are part of an instruction."""
    return {
        called
        for computation in module.computations
        for each in computation.instructions
        if each.opcode not in ("while", "conditional", "call")
        for called in each.called_computation_ids
    }


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
