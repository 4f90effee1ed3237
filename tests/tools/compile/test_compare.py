"""Comparison of two reports."""

import pytest

from tests.tools.compile import records
from tpudist.tools.compile import command


def changed(**changes):
    return records.summarized(records.answer(**changes))


REDUCED = records.COMPILED[4:]


def compiled(*instructions):
    """The report of the usual program with other instructions at its end."""
    return changed(optimized=records.optimized(*records.COMPILED[:4], *instructions))


def memory(factor):
    return {key: int(factor * size) for key, size in records.answer()["memory"].items()}


SAME = records.a_report()


def difference(before, after, **options):
    return command.difference(before.compared(), after.compared(), **options)


@pytest.mark.parametrize(
    "other",
    [
        SAME,
        changed(memory=memory(1.04)),
        changed(memory=memory(0.96)),
        changed(cost={"flops": 1.04e6, "bytes accessed": 1e5}),
        changed(seconds=99.0, peak_bytes=1),
        SAME._replace(versions=SAME.versions._replace(libtpu="0.0.53", tensorflow="2.8")),
    ],
)
def test_reports_that_agree(other):
    assert difference(SAME, other) == ""


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (changed(memory=memory(1.1)), "HBM"),
        (changed(memory=memory(0.9)), "HBM"),
        (changed(cost={"flops": 1.1e6, "bytes accessed": 1e5}), "FLOPs"),
        (changed(cost={"bytes accessed": 1e5}), "FLOPs"),
        (changed(cost={"flops": 1e6, "bytes accessed": 2e5}), "bytes accessed"),
        (compiled(*REDUCED, *REDUCED), "collectives"),
        (
            compiled(("concatenate", [3, 3], (16, 128), {}), ("all-reduce", [4], (16, 128), {})),
            "collective bytes",
        ),
        (compiled(*REDUCED, ("all-gather", [3], (64, 128), {})), "all-gather"),
        (compiled(), "all-reduce"),
        (changed(optimized=records.a_loop()), "loops"),
        (records.summarized(records.answer(), records.a_program(collectives=())), "asked for"),
        (records.summarized(records.answer(), topology="v6e:2x4"), "compiled for"),
        (records.summarized(records.answer(), fast=True), "compiled for"),
    ],
)
def test_reports_that_differ(other, says):
    text = difference(SAME, other)
    assert says in text and "expected" in text and "obtained" in text


def test_the_tolerance_is_an_argument():
    assert difference(SAME, changed(memory=memory(1.1)), rtol=0.2) == ""
    assert difference(SAME, changed(memory=memory(1.01)), rtol=0.001)


@pytest.mark.slow
def test_one_more_reduction_of_a_real_program_is_a_difference(compiled):
    pytest.importorskip("tensorflow", reason="programs are TensorFlow's")
    from tpudist.tfcompat import versions

    if not versions.LOWERS_TO_HLO:
        pytest.skip("TensorFlow before 2.12 gives no HLO")
    from tests.tools.compile import nets

    one, two = [compiled(nets.dense(reduced=count), "v5e:2x4", fast=True) for count in (1, 2)]
    wide = compiled(nets.dense(outputs=nets.OUTPUTS * 5 // 4), "v5e:2x4", fast=True)
    assert difference(one, one) == ""
    assert "['collectives']['all-reduce']" in difference(one, two)
    assert "HBM" in difference(one, wide)
