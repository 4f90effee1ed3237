"""Rounds of loops in modules written by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpudist.tools.compile.hlo import messages, rounds

S32 = messages.Shape(element_type=4)


class Maker:
    """A module of loops over a tuple of (counter, bound)."""

    def __init__(self):
        self.module = messages.Module()
        self._ids = 0

    def computation(self, *instructions):
        """Adds one of (opcode, operands as indices, fields); the last is its root."""
        self._ids += 1
        made = self.module.computations.add(id=self._ids, name="c%d" % self._ids)
        base = 1000 * self._ids
        for index, (opcode, operands, fields) in enumerate(instructions):
            made.instructions.add(
                opcode=opcode,
                id=base + index,
                operand_ids=[base + each for each in operands],
                shape=fields.pop("shape", S32),
                **fields,
            )
        made.root_id = made.instructions[-1].id
        self.module.entry_computation_id = self._ids
        return self._ids

    def loop(self, step, direction, turned=False, inner=()):
        """(body, condition) of one that adds `step` to its counter and holds it to its bound."""
        taken = [("parameter", [], {})]
        taken += [("get-tuple-element", [0], {"tuple_index": each}) for each in (0, 1)]
        body = self.computation(
            *taken,
            ("constant", [], {"literal": {"s32s": [step]}}),
            ("add", [1, 3], {}),
            *inner,
            ("tuple", [4, 2], {}),
        )
        sides = [2, 1] if turned else [1, 2]
        compared = ("compare", sides, {"comparison_direction": direction})
        return body, self.computation(*taken, compared)


PAIR = messages.Shape(element_type=13, tuple_shapes=[S32, S32])


def entry(maker, start, end, called):
    maker.computation(
        ("constant", [], {"literal": {"s32s": [start]}}),
        ("constant", [], {"literal": {"s32s": [end]}}),
        ("tuple", [0, 1], {"shape": PAIR}),
        ("while", [2], {"shape": PAIR, "called_computation_ids": called}),
    )
    return rounds.Program(maker.module)


HOLDS = {
    "LT": lambda i, n: i < n,
    "LE": lambda i, n: i <= n,
    "GT": lambda i, n: i > n,
    "GE": lambda i, n: i >= n,
    "NE": lambda i, n: i != n,
}


@given(
    st.integers(-20, 20),
    st.integers(-20, 20),
    st.integers(-3, 3),
    st.sampled_from(sorted(HOLDS)),
    st.booleans(),
)
def test_a_loop_runs_as_often_as_its_counter_says(start, end, step, direction, turned):
    maker = Maker()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "_MOST", 100)  # of loops without an end
        (trips,) = entry(maker, start, end, maker.loop(step, direction, turned)).trips.values()
    counter, count = start, 0
    while count < 100 and (
        HOLDS[direction](end, counter) if turned else HOLDS[direction](counter, end)
    ):
        counter, count = counter + step, count + 1
    assert trips == (count if count < 100 else None)


def test_the_trips_of_nested_loops_multiply():
    maker = Maker()
    body, condition = maker.loop(1, "LT")
    inner = (
        ("tuple", [3, 2], {"shape": PAIR}),
        ("while", [5], {"shape": PAIR, "called_computation_ids": [body, condition]}),
    )
    outer = maker.loop(1, "LT", inner=inner)
    found = entry(maker, 0, 7, outer)
    # The inner one counts from 1 to the outer one's bound.
    assert sorted(found.trips.values()) == [6, 7] and found.times[body] == 42


@pytest.mark.parametrize("opcode", ["negate", "parameter"])
def test_the_trips_up_to_a_variable_bound_are_unknown(opcode):
    maker = Maker()
    called = maker.loop(1, "LT")
    maker.computation(
        ("constant", [], {"literal": {"s32s": [0]}}),
        (opcode, [0, 0] if opcode == "negate" else [], {}),
        ("tuple", [0, 1], {"shape": PAIR}),
        ("while", [2], {"shape": PAIR, "called_computation_ids": called}),
    )
    found = rounds.Program(maker.module)
    assert list(found.trips.values()) == [None] and found.times[called[0]] == 1


def test_a_bound_that_an_earlier_loop_leaves_as_it_was_is_known():
    maker = Maker()
    first, second = maker.loop(1, "LT"), maker.loop(2, "LT")
    pair = {"shape": PAIR}
    maker.computation(
        ("constant", [], {"literal": {"s32s": [0]}}),
        ("constant", [], {"literal": {"s32s": [6]}}),
        ("tuple", [0, 1], dict(pair)),
        ("while", [2], dict(pair, called_computation_ids=first)),
        ("get-tuple-element", [3], {"tuple_index": 1}),
        ("get-tuple-element", [3], {"tuple_index": 0}),
        ("constant", [], {"literal": {"s32s": [4]}}),
        ("add", [5, 6], {}),
        ("add", [4, 7], {}),
        ("tuple", [4, 8], dict(pair)),
        ("while", [9], dict(pair, called_computation_ids=second)),
    )
    # The second one counts from 6 to 6 + (6 + 4) in steps of two.
    assert list(rounds.Program(maker.module).trips.values()) == [6, 5]
