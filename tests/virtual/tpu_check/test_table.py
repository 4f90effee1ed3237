"""The recorded table is of ops that are known, and says one thing of each."""

import pytest
from packaging.version import Version

from tpudist.tfcompat import versions
from tpudist.virtual.tpu_check import table


def test_nothing_is_both_refused_and_taken(monkeypatch):
    monkeypatch.setattr(versions, "TF", Version("2.21.0"))
    recorded = table.tpu_ops.__wrapped__()
    taken = {*recorded.constants, *recorded.taken_dtypes, *recorded.refused_dtypes}
    assert not recorded.refused & taken


def test_common_ops_are_taken_and_common_mistakes_refused():
    recorded = table.tpu_ops()
    taken = {"AddV2", "MatMul", "Softmax", "GatherV2", "Where", "Unique"}
    assert taken & recorded.refused == set()
    assert {"EagerPyFunc", "AsString", "DecodeJpeg", "LookupTableFindV2"} <= recorded.refused
    assert recorded.constants["ConcatV2"] == ["axis"]
    assert recorded.dtypes >= {"float32", "bfloat16", "resource", "variant"}
    assert recorded.dtypes.isdisjoint({"string", "complex128"})


def test_dtypes_are_refused_of_ops_that_a_tpu_has_kernels_of():
    recorded = table.tpu_ops()
    assert set(recorded.refused_dtypes) <= set(recorded.taken_dtypes)
    assert "int64" in recorded.refused_dtypes["MatMul"]
    assert recorded.dtypes.issuperset(sum(recorded.refused_dtypes.values(), []))
    common = {"AddV2", "Mul", "Sum", "Cast", "GatherV2", "ArgMax", "Range"}
    assert common.isdisjoint(recorded.refused_dtypes)
    assert "complex64" not in recorded.taken_dtypes["MatrixInverse"]["T"]


@pytest.mark.parametrize(
    ("release", "refused"),
    [
        ("1.15.5", {"Zeta", "EnsureShape", "Igamma", "Bincount"}),
        ("2.2.3", {"Zeta", "EnsureShape", "Bincount"}),
        ("2.3.0", {"Bincount"}),
        ("2.4.1", {"Bincount"}),
        ("2.5.0", set()),
        ("2.21.0", set()),
    ],
)
def test_older_releases_lack_ops_that_newer_ones_have(release, refused, monkeypatch):
    monkeypatch.setattr(versions, "TF", Version(release))
    told = table.tpu_ops.__wrapped__().refused
    assert told & {"Zeta", "EnsureShape", "Igamma", "Bincount"} == refused


def test_what_is_advised_is_said_of_ops_that_are_refused():
    assert set(table.ADVICE) - table.tpu_ops().refused == set()
