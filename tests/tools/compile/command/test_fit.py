"""The search for the largest batch that fits, and the arguments of another batch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.compile import records
from tpudist.errors import ArgumentError, CompileError
from tpudist.tools.compile import arguments
from tpudist.tools.compile.command import fit

FITS = records.a_report()
FAILS = records.summarized(
    records.failed(message="the total memory (22.44G) exceeds available HBM (15.75G)")
)


def search(first, capacity):
    """Returns (the `fit.Fit` on a device that fits batches up to one, the batches tried)."""
    tried = []

    def compile_batch(batch):
        tried.append(batch)
        return FITS if batch <= capacity else FAILS

    return fit.largest(first, compile_batch), tried


@given(st.integers(3, 5000), st.integers(1, 3000))
def test_the_largest_batch_is_found(first, capacity):
    found, tried = search(first, capacity)
    assert found.batch <= capacity < found.above
    assert len(tried) == len(set(tried)) <= 30
    # Exact to a tile of eight rows, and for large batches to 1/64.
    assert found.batch == capacity or found.above - found.batch <= max(8, found.batch // 64)
    assert found.missing == int(6.69 * 2**30)


def test_the_search_ends_if_all_batches_fit():
    found, tried = search(8, 10**9)
    assert found.above is None and found.batch == max(tried) == 8 * 1024
    assert "and larger ones" in fit.text(found)


def test_a_program_that_fits_with_no_batch_is_refused():
    with pytest.raises(CompileError, match="batch 1"):
        search(100, 0)


def test_another_failure_is_not_out_of_memory():
    other = records.summarized(records.failed("INVALID_ARGUMENT", "no c128"))
    with pytest.raises(CompileError, match="no c128"):
        fit.largest(8, lambda batch: other)


def test_tensors_get_another_batch():
    args, kwargs = arguments.parse("f32[128,28],(s32[128],f32[3,128]),n=128,y={a:f32[128]}")
    assert fit.batch_of(args, kwargs) == 128
    args, kwargs = fit.with_batch((args, kwargs), 128, 64)
    assert args == (
        arguments.Spec("float32", (64, 28)),
        (arguments.Spec("int32", (64,)), arguments.Spec("float32", (3, 128))),
    )
    assert kwargs == {"n": 128, "y": {"a": arguments.Spec("float32", (64,))}}


@pytest.mark.parametrize("text", ["", "n=3", "f32[],n=3"])
def test_arguments_without_a_batch_are_refused(text):
    with pytest.raises(ArgumentError, match="--fit"):
        fit.batch_of(*arguments.parse(text))
