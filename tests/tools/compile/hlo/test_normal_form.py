"""The normal form of a program, which the compiler gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.compile.hlo import modules
from tpudist.tools.compile.hlo import messages, normal_form

pytestmark = pytest.mark.slow

REPLICATED = b""


def normalized(module, replicas=8, partitions=1):
    made = normal_form.normalized(module.SerializeToString(), replicas, partitions)
    return messages.Module.FromString(made)


@given(modules.modules(), st.integers(1, 300))
def test_ids_become_small_and_keep_their_meaning(module, replicas):
    made = normalized(module, replicas)
    ids = [each.id for computation in made.computations for each in computation.instructions]
    assert ids == list(range(1, len(ids) + 1))
    assert modules.structure(made) == modules.structure(module)


@given(modules.modules(), st.integers(1, 300))
def test_collectives_are_across_all_replicas_and_nothing_else(module, replicas):
    made = normalized(module, replicas)
    for computation in made.computations:
        for each in computation.instructions:
            groups = [list(group.replica_ids) for group in each.replica_groups]
            if each.opcode == "all-reduce":
                assert each.channel_id == 0 and groups == [list(range(replicas))]
            else:
                assert groups == []


@given(modules.modules(), st.integers(1, 4))
def test_a_normalized_module_does_not_change(module, partitions):
    once = normal_form.normalized(module.SerializeToString(), 8, partitions)
    assert normal_form.normalized(once, 8, partitions) == once


def test_an_id_may_be_the_lower_half_of_another():
    module = messages.Module()
    made = modules.computation(module, 7, ("parameter", [], (8,), {}), ("add", [0, 0], (8,), {}))
    whole = normalized(module)
    made.instructions[1].operand_ids[:] = [0, 0]
    assert normalized(module) == whole


def test_fields_that_tpudist_does_not_know_are_kept():
    module = messages.Module()
    made = modules.computation(module, 1, ("parameter", [], (8,), {}))
    unknown = b"\xfa\x3e\x04seen"  # field 1007
    text = module.SerializeToString() + unknown
    assert normal_form.normalized(text, 1, 1).count(b"seen") == 1
    made.instructions[0].MergeFromString(unknown)
    assert normal_form.normalized(module.SerializeToString(), 1, 1).count(b"seen") == 1


def split(*tiles):
    return (
        messages.Module()
        .computations.add()
        .instructions.add(sharding={"type": messages.OTHER, "tile_assignment_dimensions": tiles})
        .sharding
    )


def annotated(*between, updated=()):
    """Returns a module whose first parameter is split behind instructions, with two results.

    Args:
      *between: (opcode, shape) of the instructions between.
      updated: of (result, parameter) pairs.
    """
    module = messages.Module()
    rows = [
        ("parameter", [], (8, 4), {"parameter_number": 0}),
        ("parameter", [], (8, 4), {"parameter_number": 1}),
    ]
    last = 0
    for opcode, shape in between:
        rows.append((opcode, [last], shape, {}))
        last = len(rows) - 1
    rows.append(
        ("custom-call", [last], (8, 4), {"custom_call_target": "Sharding", "sharding": split(2, 1)})
    )
    rows += [("add", [1, len(rows) - 1], (8, 4), {})]
    rows += [("tuple", [len(rows) - 1, len(rows) - 1], None, {})]
    modules.computation(module, 1, *rows)
    for result, parameter in updated:
        module.input_output_alias.entries.add(
            output_shape_index=[result], parameter_number=parameter
        )
    return module


def shardings(module):
    """([sharding of each parameter], [of each result]), as bytes."""
    instructions = normal_form.entry(module).instructions
    root = instructions[-1].sharding
    assert root.type == messages.TUPLE
    return (
        [each.sharding.SerializeToString() for each in instructions if each.opcode == "parameter"],
        [each.SerializeToString() for each in root.tuple_shardings],
    )


@pytest.mark.parametrize(
    ("between", "reaches"),
    [
        ([], True),
        ([("reshape", (8, 4))], True),
        ([("copy", (8, 4)), ("reshape", (8, 4))], True),
        ([("reshape", (4, 8))], False),
        ([("negate", (8, 4))], False),
    ],
)
def test_a_parameter_has_the_sharding_of_its_annotation(between, reaches):
    expected = split(2, 1).SerializeToString() if reaches else REPLICATED
    found = shardings(normalized(annotated(*between), 4, 2))
    assert found == ([expected, REPLICATED], [REPLICATED, REPLICATED])


def test_an_updated_variable_keeps_its_sharding():
    found = shardings(normalized(annotated(updated=[(1, 0), (0, 1)]), 4, 2))
    assert found[1] == [REPLICATED, split(2, 1).SerializeToString()]


def test_a_parameter_assigned_to_one_device_is_replicated():
    module = annotated(updated=[(0, 0)])
    for each in module.computations[0].instructions:
        if each.opcode == "custom-call":
            each.sharding.Clear()
            each.sharding.type = messages.MAXIMAL
    assert shardings(normalized(module, 4, 2)) == ([REPLICATED] * 2, [REPLICATED] * 2)


def test_a_replicated_annotation_is_kept():
    made = normalized(annotated(), 4, 2)
    assert all(
        each.HasField("sharding")
        for each in normal_form.entry(made).instructions
        if each.opcode == "parameter"
    )


def test_one_logical_device_gets_no_shardings():
    made = normalized(annotated())
    assert not any(
        each.HasField("sharding")
        for each in normal_form.entry(made).instructions
        if each.opcode in ("parameter", "tuple")
    )
