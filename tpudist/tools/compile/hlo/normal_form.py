"""What a TensorFlow's HLO needs before libtpu compiles it for N replicas.

1. TensorFlow's collectives have a channel id, which means "across replicas and
   logical devices": over too many devices, or refused. A strategy's collectives
   are across replicas.
2. Instruction ids have 64 bits since TensorFlow 2.20; libtpu up to 0.0.17
   crashes on more than 31.
3. Instructions follow their operands; TensorFlow 2.5 does not hold to that
   if there are several collectives, and libtpu refuses them then.
4. With several logical devices, entry parameters and results need shardings of
   their own, or an updated variable goes in whole and comes out split.

Names and ids that count functions of the process (``inference_step_203``), and
source lines, which newer releases get wrong, are taken out, and attributes are
sorted: one program, one text.
"""

from tpudist.tools.compile.hlo import messages

#: Collectives of HLO, as they are asked for.
COLLECTIVES = (
    "all-reduce",
    "reduce-scatter",
    "all-gather",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "ragged-all-to-all",
)

#: Those whose replicas are in groups.
_GROUPED = COLLECTIVES[:4] + COLLECTIVES[5:]

#: How many reshapes and copies may lie between an argument and its annotation.
_REACH = 4


def normalized(hlo, replicas, partitions):
    """The module that is handed to libtpu.

    Args:
      hlo: bytes, a HloModuleProto as TensorFlow gave it.
      replicas: how many run it.
      partitions: logical devices of each.

    Returns:
      bytes, the same for the same program whatever its ids and function names were.
    """
    module = messages.Module.FromString(hlo)
    _renumber(module)
    for computation in module.computations:
        _order(computation)
        for instruction in computation.instructions:
            if instruction.opcode in COLLECTIVES:
                _across_replicas(instruction, replicas)
    if partitions > 1:
        _add_shardings(module)
    _rename(module)
    return module.SerializeToString(deterministic=True)


def _across_replicas(instruction, replicas):
    for field in (
        "channel_id",
        "use_global_device_ids",
        "device_list",
        "iota_device_list",
        "mesh_device_list",
    ):
        instruction.ClearField(field)
    if instruction.opcode in _GROUPED:
        del instruction.replica_groups[:]
        instruction.replica_groups.add().replica_ids.extend(range(replicas))


def _order(computation):
    """Puts what an instruction needs before it; what is in order stays."""
    instructions = {each.id: each for each in computation.instructions}
    placed = {}
    for first in computation.instructions:
        waiting = [first]
        while waiting:
            instruction = waiting[-1]
            needed = list(instruction.operand_ids) + list(instruction.control_predecessor_ids)
            missing = [instructions[each] for each in needed if each not in placed]
            if not missing:
                placed.setdefault(instruction.id, instruction)
                waiting.pop()
            waiting += missing
    if list(placed) != list(instructions):
        ordered = [type(each).FromString(each.SerializeToString()) for each in placed.values()]
        del computation.instructions[:]
        computation.instructions.extend(ordered)


def _renumber(module):
    """Counts computations and instructions from 1."""
    computations, instructions = {}, {}
    for computation in module.computations:
        computations[computation.id] = len(computations) + 1
        for instruction in computation.instructions:
            instructions[computation.id, instruction.id] = len(instructions) + 1
    for computation in module.computations:
        old = computation.id
        for instruction in computation.instructions:
            instruction.id = instructions[old, instruction.id]
            for field in (instruction.operand_ids, instruction.control_predecessor_ids):
                field[:] = [_new(instructions, old, each) for each in field]
            instruction.called_computation_ids[:] = [
                computations[each] for each in instruction.called_computation_ids
            ]
        computation.root_id = _new(instructions, old, computation.root_id)
        computation.id = computations[old]
    module.entry_computation_id = computations[module.entry_computation_id]


def _rename(module):
    module.name = "step"
    module.ClearField("id")
    module.ClearField("stack_frame_index")
    for computation in module.computations:
        computation.name = "computation.%d" % computation.id
        for instruction in computation.instructions:
            for field in ("source_file", "source_line", "stack_frame_id"):
                instruction.metadata.ClearField(field)
            instruction.frontend_attributes.map.sort(key=lambda attribute: attribute.key)
    module.entry_computation_name = entry(module).name


def _new(instructions, computation, old):
    """The new id. XLA may name an instruction by the lower half of its id alone."""
    whole = (computation << 32) | old
    return instructions[computation, old if (computation, old) in instructions else whole]


def entry(module):
    """The entry computation.

    Args:
      module: a `messages.Module`.
    """
    return next(each for each in module.computations if each.id == module.entry_computation_id)


def _add_shardings(module):
    """Shards entry parameters as the annotation that they flow into; results likewise.

    As TensorFlow's own TPU rewrite does: what is not annotated is replicated,
    an updated variable stays as it was. What is assigned to one device is
    replicated too: each device of a SPMD program has all entry parameters.
    """
    computation = entry(module)
    users = {}
    for instruction in computation.instructions:
        for operand in instruction.operand_ids:
            users.setdefault(operand, []).append(instruction)
    parameters = {}
    for instruction in computation.instructions:
        if instruction.opcode == "parameter":
            found = _annotation(instruction, users, _REACH)
            _set(instruction.sharding, found)
            parameters[instruction.parameter_number] = instruction.sharding
    root = next(each for each in computation.instructions if each.id == computation.root_id)
    if root.opcode == "tuple":
        _shard_results(root, parameters, module.input_output_alias.entries)


def _shard_results(root, parameters, aliases):
    updated = {
        alias.output_shape_index[0]: alias.parameter_number
        for alias in aliases
        if len(alias.output_shape_index) == 1
    }
    root.sharding.Clear()
    root.sharding.type = messages.TUPLE
    for index in range(len(root.operand_ids)):
        _set(root.sharding.tuple_shardings.add(), parameters.get(updated.get(index)))


def _set(sharding, found):
    """Copies a sharding; REPLICATED if there is none, or it is of one device."""
    if found is None or found.type == messages.MAXIMAL:
        sharding.Clear()
        sharding.SetInParent()
    else:
        sharding.CopyFrom(found)


def _annotation(instruction, users, reach):
    """The sharding of the annotation nearest to an instruction, else None."""
    if not reach:
        return None
    for user in users.get(instruction.id, ()):
        if user.opcode == "custom-call" and user.custom_call_target == "Sharding":
            return user.sharding
        if user.opcode in ("reshape", "copy") and (
            user.shape.dimensions == instruction.shape.dimensions
        ):
            found = _annotation(user, users, reach - 1)
            if found is not None:
                return found
    return None
