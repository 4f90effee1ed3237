"""Brings TensorFlow's HLO into the form that libtpu compiles for N replicas.

1. TensorFlow's collectives have a channel id, which means "across replicas and
   logical devices": over too many devices, or refused. A strategy's collectives
   are across replicas.
2. Instruction ids have 64 bits since TensorFlow 2.20; libtpu up to 0.0.17
   crashes on more than 31.
3. With several logical devices, entry parameters and results need shardings of
   their own, or an updated variable goes in whole and comes out split.
"""

from __future__ import annotations

from typing import Any, Iterable

from tpudist.tools.compile.hlo import messages
from tpudist.tools.compile.hlo.messages import (
    HloComputation,
    HloInstruction,
    HloModule,
    HloSharding,
)

#: Opcodes of collectives.
COLLECTIVES = (
    "all-reduce",
    "reduce-scatter",
    "all-gather",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "ragged-all-to-all",
)

#: Those that have replica groups.
_GROUPED = COLLECTIVES[:4] + COLLECTIVES[5:]

#: The fields that say over which devices one goes, beside the groups; some TensorFlows have fewer.
_OF_DEVICES = (
    "channel_id use_global_device_ids collective_device_list iota_collective_device_list "
    "mesh_axes_replica_group_list".split()
)

#: How many reshapes and copies may stand between an argument and its annotation.
_MAX_DISTANCE = 4


def normalized(hlo: bytes, replicas: int, partitions: int) -> bytes:
    """Returns the serialized module that libtpu gets, from the one that TensorFlow gave."""
    module = messages.Module.FromString(hlo)
    _renumber(module)
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.opcode not in COLLECTIVES:
                continue
            for field in _OF_DEVICES:
                if field in instruction.DESCRIPTOR.fields_by_name:
                    instruction.ClearField(field)
            if instruction.opcode in _GROUPED:
                del instruction.replica_groups[:]
                instruction.replica_groups.add().replica_ids.extend(range(replicas))
    if partitions > 1:
        _add_shardings(module)
    return module.SerializeToString()


def _renumber(module: HloModule) -> None:
    """Numbers computations and instructions from 1."""
    computations: dict[int, int] = {}
    instructions: dict[tuple[int, int], int] = {}
    for computation in module.computations:
        computations[computation.id] = len(computations) + 1
        for instruction in computation.instructions:
            instructions[computation.id, instruction.id] = len(instructions) + 1
    for computation in module.computations:
        old = computation.id
        for instruction in computation.instructions:
            instruction.id = instructions[old, instruction.id]
            for field in (instruction.operand_ids, instruction.control_predecessor_ids):
                field[:] = [_new_id(instructions, old, each) for each in field]
            instruction.called_computation_ids[:] = [
                computations[each] for each in instruction.called_computation_ids
            ]
        computation.root_id = _new_id(instructions, old, computation.root_id)
        computation.id = computations[old]
    module.entry_computation_id = computations[module.entry_computation_id]


def _new_id(instructions: dict[tuple[int, int], int], computation: int, old: int) -> int:
    """Returns an instruction's new id. XLA may refer to it by the lower half of its id alone."""
    whole = (computation << 32) | old
    return instructions[computation, old if (computation, old) in instructions else whole]


def entry(module: HloModule) -> HloComputation:
    """Returns the entry computation of a module."""
    return next(each for each in module.computations if each.id == module.entry_computation_id)


def _add_shardings(module: HloModule) -> None:
    """Shards each entry parameter as its first annotation says, and the results likewise."""
    computation = entry(module)
    users: dict[int, list[HloInstruction]] = {}
    for instruction in computation.instructions:
        for operand in instruction.operand_ids:
            users.setdefault(operand, []).append(instruction)
    parameters = {}
    for instruction in computation.instructions:
        if instruction.opcode == "parameter":
            _copy_sharding(_annotation(instruction, users, _MAX_DISTANCE), instruction.sharding)
            parameters[instruction.parameter_number] = instruction.sharding
    root = next(each for each in computation.instructions if each.id == computation.root_id)
    if root.opcode == "tuple":
        _shard_results(root, parameters, module.input_output_alias.entries)


def _shard_results(
    root: HloInstruction, parameters: dict[int, HloSharding], aliases: Iterable[Any]
) -> None:
    updated = {
        alias.output_shape_index[0]: alias.parameter_number
        for alias in aliases
        if len(alias.output_shape_index) == 1
    }
    root.sharding.Clear()
    root.sharding.type = messages.TUPLE
    for index in range(len(root.operand_ids)):
        sharding = parameters.get(updated[index]) if index in updated else None
        _copy_sharding(sharding, root.sharding.tuple_shardings.add())


def _copy_sharding(source: HloSharding | None, target: HloSharding) -> None:
    """Copies a sharding; REPLICATED if there is none, or it is of one device."""
    if source is None or source.type == messages.MAXIMAL:
        target.Clear()
        target.SetInParent()
    else:
        target.CopyFrom(source)


def _annotation(
    instruction: HloInstruction, users: dict[int, list[HloInstruction]], distance: int
) -> HloSharding | None:
    """Returns the sharding of the nearest annotation of a value, at most so many users away."""
    if not distance:
        return None
    for user in users.get(instruction.id, ()):
        if user.opcode == "custom-call" and user.custom_call_target == "Sharding":
            return user.sharding
        if user.opcode in ("reshape", "copy") and (
            user.shape.dimensions == instruction.shape.dimensions
        ):
            sharding = _annotation(user, users, distance - 1)
            if sharding is not None:
                return sharding
    return None
