"""Comparison of two reports."""

import pytest

from tests.tools.compile import records
from tpudist.tools.compile.command import gate


def changed(**changes):
    return records.summarized(records.answer(**changes))


def memory(factor):
    return {key: int(factor * size) for key, size in records.answer()["memory"].items()}


SAME = records.a_report()


@pytest.mark.parametrize(
    "other",
    [
        SAME,
        changed(memory=memory(1.04)),
        changed(memory=memory(0.96)),
        changed(flops=1.04e6),
        changed(seconds=99.0, peak_bytes=1),
        SAME._replace(versions=SAME.versions._replace(libtpu="0.0.53", tensorflow="2.8")),
    ],
)
def test_reports_that_agree(other):
    assert gate.difference(SAME, other) == ""


@pytest.mark.parametrize(
    "other, says",
    [
        (changed(memory=memory(1.1)), "HBM"),
        (changed(memory=memory(0.9)), "HBM"),
        (changed(flops=1.1e6), "FLOPs"),
        (changed(flops=None), "FLOPs"),
        (changed(bytes_accessed=2e5), "bytes accessed"),
        (changed(collectives=[["all-reduce", 2, 4112]]), "collectives"),
        (changed(collectives=[["all-reduce", 1, 8224]]), "collective bytes"),
        (changed(collectives=[["all-reduce", 1, 4112], ["all-gather", 1, 1]]), "all-gather"),
        (changed(collectives=[]), "all-reduce"),
        (changed(loops=[["while", 100, 1]]), "loops"),
        (changed(again=[1e6, 0]), "FLOPs"),
        (records.summarized(records.answer(), records.a_program(collectives=())), "asked for"),
        (records.summarized(records.answer(), topology="v6e:2x4"), "compiled for"),
        (records.summarized(records.answer(), fast=True), "compiled for"),
    ],
)
def test_reports_that_differ(other, says):
    text = gate.difference(SAME, other)
    assert says in text and "expected" in text and "obtained" in text
    assert "libtpu" not in text


def test_the_tolerance_is_an_argument():
    assert gate.difference(SAME, changed(memory=memory(1.1)), rtol=0.2) == ""
    assert gate.difference(SAME, changed(memory=memory(1.01)), rtol=0.001)


def test_another_compiler_is_named_with_a_difference():
    other = changed(memory=memory(1.1))
    other = other._replace(versions=other.versions._replace(libtpu="0.0.53"))
    text = gate.difference(SAME, other)
    assert "HBM" in text and "'0.0.53'" in text


@pytest.mark.slow
def test_one_more_reduction_of_a_real_program_is_a_difference(compiled):
    pytest.importorskip("tensorflow", reason="programs are TensorFlow's")
    from tpudist.tfcompat import versions

    if not versions.LOWERS_TO_HLO:
        pytest.skip("TensorFlow before 2.5 gives no HLO")
    from tests.tools.compile import nets

    one, two = [compiled(nets.dense(reduced=count), "v5e:2x4", fast=True) for count in (1, 2)]
    wide = compiled(nets.dense(outputs=nets.OUTPUTS * 5 // 4), "v5e:2x4", fast=True)
    assert gate.difference(one, one) == ""
    assert "['collectives']['all-reduce']" in gate.difference(one, two)
    assert "HBM" in gate.difference(one, wide)


def test_more_trips_of_a_loop_are_a_difference():
    expected, obtained = [changed(loops=[["while", trips, 1]]) for trips in (100, 1000)]
    text = gate.difference(expected, obtained)
    assert "rounds" in text and "100" in text and "1000" in text
