"""HLO modules written by hand, and drawn by hypothesis."""

from hypothesis import strategies as st

from tpudist.tools.compile.hlo import messages

F32, TUPLE = 11, 13


def computation(module, number, *instructions):
    """Adds a computation.

    Args:
      module: a `messages.Module`.
      number: its id; instruction i has the id ``number << 32 | i``, as XLA has it.
      *instructions: (opcode, operands as indices, shape or None, further fields).

    Returns:
      The computation; the last instruction is its root.
    """
    made = module.computations.add(name="inference_step_%d" % number, id=number)
    for index, (opcode, operands, shape, fields) in enumerate(instructions):
        instruction = made.instructions.add(
            name="%s.%d" % (opcode, index),
            opcode=opcode,
            id=number << 32 | index,
            operand_ids=[number << 32 | operand for operand in operands],
            **fields,
        )
        if shape is not None:
            instruction.shape.CopyFrom(messages.Shape(element_type=F32, dimensions=shape))
    made.root_id = made.instructions[-1].id
    module.entry_computation_id = number
    return made


@st.composite
def modules(draw):
    """Modules of a few computations; ids are any, each computation may call earlier ones."""
    module = messages.Module()
    numbers = draw(st.lists(st.integers(1, 2**30), min_size=1, max_size=4, unique=True))
    for position, number in enumerate(numbers):
        made = module.computations.add(name="c%d" % number, id=number)
        ids = draw(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=6, unique=True))
        for index, each in enumerate(ids):
            operands = draw(st.lists(st.sampled_from(ids[:index]), max_size=3)) if index else []
            called = (
                draw(st.lists(st.sampled_from(numbers[:position]), max_size=2))
                if (position)
                else []
            )
            made.instructions.add(
                name="i%d" % index,
                opcode=draw(st.sampled_from(["add", "all-reduce", "call"])),
                id=number << 32 | each,
                called_computation_ids=called,
                operand_ids=[number << 32 | operand for operand in operands],
                control_predecessor_ids=[number << 32 | operand for operand in operands[:1]],
                channel_id=draw(st.integers(0, 3)),
            )
        made.root_id = made.instructions[-1].id
    module.entry_computation_id = numbers[-1]
    return module


def structure(module):
    """Returns the structure of a module, without its ids and function names.

    Args:
      module: a `messages.Module`.
    """
    positions = {each.id: number for number, each in enumerate(module.computations)}
    made = []
    for each in module.computations:
        inside = {one.id: number for number, one in enumerate(each.instructions)}
        made.append(
            (
                inside[each.root_id],
                [
                    (
                        one.name,
                        one.opcode,
                        [inside[operand] for operand in one.operand_ids],
                        [inside[operand] for operand in one.control_predecessor_ids],
                        [positions[called] for called in one.called_computation_ids],
                    )
                    for one in each.instructions
                ],
            )
        )
    return positions[module.entry_computation_id], made
