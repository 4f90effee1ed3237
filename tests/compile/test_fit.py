"""The largest batch that fits, found by compiling: the search, and what is scaled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compile import records
from tpudist.compile import arguments, fit
from tpudist.errors import ArgumentError, CompileError

FITS = records.a_report()
FAILS = records.summarized(
    records.failed(message="the total memory (22.44G) exceeds available HBM (15.75G)")
)


def searched(first, capacity):
    """(the `fit.Fit` of a device with room for a batch, the batches that were tried)."""
    tried = []

    def compiled(batch):
        tried.append(batch)
        return FITS if batch <= capacity else FAILS

    return fit.largest(first, compiled), tried


@given(st.integers(3, 5000), st.integers(1, 3000))
def test_it_is_the_largest(first, capacity):
    found, tried = searched(first, capacity)
    assert found.batch <= capacity < found.above
    assert len(tried) == len(set(tried)) <= 30
    # Within a tile of eight rows of what there is room for, of large batches within 1/64.
    assert found.batch == capacity or found.above - found.batch <= max(8, found.batch // 64)
    assert found.missing == int(6.69 * 2**30)


def test_where_all_fit_the_search_ends():
    found, tried = searched(8, 10**9)
    assert found.above is None and found.batch == max(tried) == 8 * 1024
    assert "and larger ones" in fit.text(found, 8)


def test_what_does_not_fit_at_all_is_told():
    with pytest.raises(CompileError, match="batch 1"):
        searched(100, 0)


def test_another_failure_is_not_taken_for_want_of_memory():
    other = records.summarized(records.failed("INVALID_ARGUMENT", "no c128"))
    with pytest.raises(CompileError, match="no c128"):
        fit.largest(8, lambda batch: other)


def test_the_text_says_what_else_would_make_room():
    text = fit.text(searched(128, 100)[0], 128)
    assert "fits: batch 96 of a replica; 104 does not, by 6.69 GiB" in text
    assert "for batch 128: bfloat16 instead of float32 (4.00 KiB" in text
    assert "recompute_grad" in text
    assert "recompute_grad" not in fit.text(searched(64, 100)[0], 64)


def test_tensors_of_the_batch_are_scaled():
    args, kwargs = arguments.parse("f32[128,28],(s32[128],f32[3,128]),n=128,y={a:f32[128]}")
    assert fit.batch_of(args, kwargs) == 128
    args, kwargs = fit.scaled((args, kwargs), 128, 64)
    assert args == (
        arguments.Spec("float32", (64, 28)),
        (arguments.Spec("int32", (64,)), arguments.Spec("float32", (3, 128))),
    )
    assert kwargs == {"n": 128, "y": {"a": arguments.Spec("float32", (64,))}}


@pytest.mark.parametrize("text", ["", "n=3", "f32[],n=3"])
def test_without_a_batch_it_is_refused(text):
    with pytest.raises(ArgumentError, match="--fit"):
        fit.batch_of(*arguments.parse(text))
