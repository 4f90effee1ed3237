"""The largest batch that fits, found by compiling: the search, and what is scaled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.compile import records
from tpudist.errors import ArgumentError, CompileError
from tpudist.tools.compile import arguments, fit, variants

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
    assert "and larger ones" in fit.text(found)


def test_what_does_not_fit_at_all_is_told():
    with pytest.raises(CompileError, match="batch 1"):
        searched(100, 0)


def test_another_failure_is_not_taken_for_want_of_memory():
    other = records.summarized(records.failed("INVALID_ARGUMENT", "no c128"))
    with pytest.raises(CompileError, match="no c128"):
        fit.largest(8, lambda batch: other)


def tried_between(capacity):
    return fit.between(96, 128, lambda batch: FITS if batch <= capacity else FAILS)


def test_a_variant_is_tried_for_the_batch_that_was_asked_for():
    assert fit.text(searched(128, 100)[0]) == (
        "fits: batch 96 of a replica; 104 does not, by 6.69 GiB"
    )
    assert tried_between(128) == fit.Fit(128, FITS, None, None)
    assert (tried_between(115).batch, tried_between(115).above) == (112, 120)
    assert tried_between(100) is None


def test_what_is_told_of_a_variant():
    variant = variants.ALL[0]
    told = variants.text(variant, tried_between(115), (96, 128))
    assert told.startswith("bfloat16: fits batch 112 (12.0 KiB) with tf.keras.mixed_precision.set_")
    assert told.endswith("made; 120 does not, by 6.69 GiB")
    assert "no batch above 96" in variants.text(variant, None, (96, 128))
    assert "not known: no\ngood".replace("\n", " ") in variants.failed(
        variant, ValueError("no\ngood")
    )


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
