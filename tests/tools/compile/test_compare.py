"""Two reports held against each other."""

import pytest

from tests.tools.compile import records
from tpudist.tools.compile import compare


def changed(**changes):
    return records.summarized(records.kept(**changes))


def memory(factor):
    return {key: int(factor * size) for key, size in records.kept()["memory"].items()}


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
def test_what_is_no_difference(other):
    assert compare.explain(SAME, other) == ""


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
        (records.summarized(records.kept(), records.a_program(collectives=())), "asked for"),
        (records.summarized(records.kept(), topology="v6e:2x4"), "compiled for"),
        (records.summarized(records.kept(), fast=True), "compiled for"),
    ],
)
def test_what_is(other, says):
    text = compare.explain(SAME, other)
    assert says in text and "expected" in text and "obtained" in text
    assert "libtpu" not in text


def test_the_tolerance_is_the_callers():
    assert compare.explain(SAME, changed(memory=memory(1.1)), rtol=0.2) == ""
    assert compare.explain(SAME, changed(memory=memory(1.01)), rtol=0.001)


def test_another_compiler_is_named_beside_what_differs():
    other = changed(memory=memory(1.1))
    other = other._replace(versions=other.versions._replace(libtpu="0.0.53"))
    text = compare.explain(SAME, other)
    assert "HBM" in text and "'0.0.53'" in text


def test_one_more_reduction_of_a_real_program_is_one(compiled):
    pytest.importorskip("tensorflow", reason="programs are TensorFlow's")
    from tpudist.tfcompat import versions

    if not versions.LOWERS_TO_HLO:
        pytest.skip("TensorFlow before 2.5 gives no HLO")
    from tests.tools.compile import nets

    one, two = [compiled(nets.dense(reduced=count), "v5e:2x4", fast=True) for count in (1, 2)]
    wide = compiled(nets.dense(outputs=nets.OUTPUTS * 5 // 4), "v5e:2x4", fast=True)
    assert compare.explain(one, one) == ""
    assert "['collectives']['all-reduce']" in compare.explain(one, two)
    assert "HBM" in compare.explain(one, wide)


def test_more_rounds_of_a_loop_are_a_difference():
    expected, obtained = [changed(loops=[["while", trips, 1]]) for trips in (100, 1000)]
    text = compare.explain(expected, obtained)
    assert "rounds" in text and "100" in text and "1000" in text
