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


def largest_between(capacity):
    return fit.largest_between(96, 128, lambda batch: FITS if batch <= capacity else FAILS)


def test_a_variant_starts_at_the_batch_that_was_asked_for():
    assert fit.text(search(128, 100)[0]) == (
        "fits: batch 96 of a replica; 104 does not, by 6.69 GiB"
    )
    assert largest_between(128) == fit.Fit(128, FITS, None, None)
    assert (largest_between(115).batch, largest_between(115).above) == (112, 120)
    assert largest_between(100) is None


def test_the_text_of_a_variant():
    variant = fit.VARIANTS[0]
    text = fit.variant_text(variant, largest_between(115), 96)
    assert text.startswith("bfloat16: fits batch 112 (12.0 KiB) with tf.keras.mixed_precision.set_")
    assert text.endswith("made; 120 does not, by 6.69 GiB")
    assert "no batch above 96" in fit.variant_text(variant, None, 96)
    assert "not known: no\ngood".replace("\n", " ") in fit.failed_variant_text(
        variant, ValueError("no\ngood")
    )


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
