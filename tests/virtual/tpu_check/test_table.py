"""The recorded table is of ops that are known, and says one thing of each."""

from tests.helpers.generations import second_generation
from tpudist.virtual.tpu_check import table

pytestmark = second_generation


def test_nothing_is_both_refused_and_compiled():
    recorded = table.tpu_ops()
    assert not recorded.refused & (recorded.compiled | set(recorded.constants))


def test_common_ops_are_taken_and_common_mistakes_refused():
    recorded = table.tpu_ops()
    assert {"AddV2", "MatMul", "Softmax", "GatherV2", "Where", "Unique"} & recorded.refused == set()
    assert {"EagerPyFunc", "AsString", "DecodeJpeg", "LookupTableFindV2"} <= recorded.refused
    assert recorded.constants["ConcatV2"] == (-1,)
    assert recorded.dtypes >= {"float32", "bfloat16", "resource"}
    assert recorded.dtypes.isdisjoint({"string", "complex128"})


def test_dtypes_are_refused_of_ops_that_compile_with_others():
    recorded = table.tpu_ops()
    assert set(recorded.refused_dtypes) <= recorded.compiled
    assert "int64" in recorded.refused_dtypes["MatMul"]
    assert recorded.dtypes.issuperset(sum(recorded.refused_dtypes.values(), []))
    common = {"AddV2", "Mul", "Sum", "Cast", "GatherV2", "ArgMax", "Range"}
    assert common.isdisjoint(recorded.refused_dtypes)


def test_what_is_advised_is_said_of_ops_that_are_refused():
    assert set(table.ADVICE) - table.tpu_ops().refused == set()
