"""The live memory of small programs, compared with counts by hand."""

import pytest

from tests.tools.compile.hlo import modules
from tpudist.tools.compile.hlo import liveness, messages

KIB = 1024


def array(kib, space=0):
    """The shape of a float32 vector of so many KiB."""
    layout = {"minor_to_major": [0], "memory_space": space}
    return messages.Shape(element_type=modules.F32, dimensions=[256 * kib], layout=layout)


def tuple_of(*parts):
    return messages.Shape(element_type=modules.TUPLE, tuple_shapes=parts)


def program(*computations, results=()):
    """A scheduled module; each instruction is (opcode, operands, shape, fields)."""
    module = messages.Module()
    for number, instructions in enumerate(computations, 1):
        made = modules.computation(
            module,
            number,
            *[(opcode, given, None, more) for opcode, given, _, more in instructions],
        )
        for instruction, (_, _, shape, _) in zip(made.instructions, instructions):
            instruction.shape.CopyFrom(shape)
            instruction.metadata.op_name = instruction.name
        order = module.schedule.sequences.add(key=made.id).value
        order.instruction_ids.extend(each.id for each in made.instructions)
    for place, parameter in results:
        module.input_output_alias.entries.add(
            output_shape_index=[place], parameter_number=parameter
        )
    return module


def simulated(*computations, **options):
    usage = liveness.usage(program(*computations, **options))
    return [each / KIB for each in usage.bytes], [
        (each.op_name, each.parameter) for each in usage.peak
    ]


def parameter(kib, number=0):
    return ("parameter", [], array(kib), {"parameter_number": number})


def test_an_array_is_live_until_its_last_use():
    levels, peak = simulated(
        [
            parameter(1),
            ("reduce", [0], array(2), {}),
            ("reduce", [1], array(4), {}),
            ("reduce", [2], array(8), {}),
            ("reduce", [1, 3], array(1), {}),
        ]
    )
    assert levels == [1, 3, 7, 15, 12]
    assert peak == [("reduce.3", None), ("reduce.2", None), ("reduce.1", None), ("", 0)]


def test_a_result_reuses_the_buffer_of_a_last_use():
    chain = [parameter(1)] + [("fusion", [number], array(4), {}) for number in range(3)]
    # The buffer of the argument is not reused: it stays live, and is of another size.
    assert simulated(chain)[0] == [1, 5, 5, 5]
    out_of_place = [
        ("reduce", each[1], each[2], {}) if each[0] == "fusion" else each for each in chain
    ]
    assert simulated(out_of_place)[0] == [1, 5, 9, 9]


@pytest.mark.parametrize("results, most", [((), 8), (((0, 0),), 4)])
def test_a_result_that_aliases_an_argument_takes_no_memory(results, most):
    levels, _ = simulated(
        [parameter(4), ("fusion", [0], array(4), {}), ("tuple", [1], tuple_of(array(4)), {})],
        results=results,
    )
    assert max(levels) == most


def test_arrays_in_fast_memory_are_not_counted():
    levels, _ = simulated(
        [
            parameter(4),
            ("copy-start", [0], tuple_of(array(4, space=1), array(4), array(0)), {}),
            ("copy-done", [1], array(4, space=1), {}),
            ("reduce", [2], array(1), {}),
        ]
    )
    assert levels == [4, 4, 4, 5]


def test_a_loop_works_in_place_and_adds_the_memory_of_its_body():
    state = tuple_of(array(4))
    body = [
        ("parameter", [], state, {}),
        ("get-tuple-element", [0], array(4), {"tuple_index": 0}),
        ("reduce", [1], array(16), {}),
        ("reduce", [2], array(4), {}),
        ("tuple", [3], state, {}),
    ]
    condition = [("parameter", [], state, {}), ("compare", [0], array(0), {})]
    entry = [
        parameter(1),
        ("reduce", [0], array(4), {}),
        ("tuple", [1], state, {}),
        ("while", [2], state, {"called_computation_ids": [1, 2]}),
        ("get-tuple-element", [3], array(4), {"tuple_index": 0}),
    ]
    levels, peak = simulated(body, condition, entry)
    assert levels == [1, 5, 5, 21, 5]
    assert peak[0] == ("reduce.2", None)


def test_a_program_without_a_schedule_has_no_usage():
    module = program([parameter(1)])
    module.ClearField("schedule")
    assert liveness.usage(module) == liveness.Usage([], [])
