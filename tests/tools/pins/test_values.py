"""Values survive a pin file; equal ones agree, tolerances are kept."""

import collections
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpudist.errors import PinError
from tpudist.toolbox import compare
from tpudist.tools.pins import store, values

FLOATS = st.floats(allow_nan=True, allow_infinity=True)
LEAVES = st.none() | st.booleans() | st.integers() | FLOATS | st.text() | st.binary(max_size=8)
KEYS = st.text(max_size=5) | st.integers()
NESTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)

Point = collections.namedtuple("Point", "x y")


def through_a_file(value, path):
    encoded = values.encode(value)
    store.put(str(path), "test", "name", store.Entry("value", 0.0, 0.0, {"2.15": encoded}), "2.15")
    return store.read(str(path))["test"]["name"].on["2.15"]


@given(value=NESTS)
def test_round_trip(tmp_path_factory, value):
    kept = through_a_file(value, tmp_path_factory.mktemp("pins") / "x.pins.json")
    assert not compare.differences(values.decode(kept), values.decode(values.encode(value)))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (np.float32(0.1), 0.1),
        (np.float64(0.1), 0.1),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.float16(0.1), 0.1),
        (np.array([0.1, 1.0], np.float32), [0.1, 1.0]),
        (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        (np.array(["a", b"b"], object), ["a", "b"]),
        (np.array([math.nan, -math.inf]), [{"$float": "nan"}, {"$float": "-inf"}]),
        (np.array([1 + 2j]), [{"$complex": [1.0, 2.0]}]),
        (Point(1, [2.0]), {"x": 1, "y": [2.0]}),
        ((1, 2), [1, 2]),
        ({1: "a"}, {"$items": [[1, "a"]]}),
        ({"$x": 1}, {"$items": [["$x", 1]]}),
        (b"\xff", {"$bytes": "ff"}),
        (b"text", "text"),
        (np.zeros((0, 3)), []),
        (np.array("2020-01-01", "datetime64[D]"), "2020-01-01"),
    ],
)
def test_encode(value, encoded):
    assert values.encode(value) == encoded
    assert json.loads(json.dumps(values.encode(value), allow_nan=False)) == encoded


@given(st.floats(width=32, allow_nan=False))
def test_float32_keeps_all_of_its_bits(value):
    kept = values.decode(values.encode(np.float32(value)))
    assert np.float32(kept) == np.float32(value)


@pytest.mark.parametrize("value", [object(), {1, 2}, lambda: 0])
def test_what_has_no_value_is_refused(value):
    with pytest.raises(PinError, match="pin 'loss' was given a "):
        values.encode({"a": [value]}, "loss")


def test_large_arrays_are_summarized():
    large = np.ones((40, 30))
    large[3, 4], large[5, 6] = math.nan, math.inf
    summary = values.encode(large)["$summary"]
    assert summary["shape"] == [40, 30] and len(summary["samples"]) == values.SAMPLES
    assert (summary["nan"], summary["inf"], summary["-inf"], summary["mean"]) == (1, 1, 0, 1.0)
    assert "$summary" not in values.encode(np.ones(values.LARGE))


@pytest.mark.parametrize("change", ["scale", "shape", "nan", "noise"])
def test_what_a_summary_sees(change):
    random = np.random.RandomState(0)
    old = random.normal(size=(50, 40)).astype(np.float32)
    new = {
        "scale": old * 1.01,
        "shape": old.T,
        "nan": np.where(old > 3, math.nan, old),
        "noise": old * (1 + 1e-7),
    }[change]
    found = compare.differences(*[values.decode(values.encode(x)) for x in (old, new)], rtol=1e-4)
    assert bool(found) == (change != "noise")


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_tolerance_is_numpys(expected, obtained, rtol, atol):
    agrees = not compare.differences(expected, obtained, rtol, atol)
    assert agrees == bool(np.isclose(obtained, expected, rtol=rtol, atol=atol))


@given(NESTS)
def test_a_value_agrees_with_itself(value):
    decoded = values.decode(values.encode(value))
    assert not compare.differences(decoded, decoded)


@pytest.mark.parametrize(
    ("expected", "obtained", "path"),
    [
        ([1, 2], [1, 3], (1,)),
        ([1, 2], [1], (1,)),
        ([1], [1, 2], (1,)),
        (1, True, ()),
        (1, "1", ()),
        ({"a": 1}, {"a": 1, "b": 2}, ("b",)),
        ({"a": {"b": [1.0]}}, {"a": {"b": [2.0]}}, ("a", "b", 0)),
        (10**6, 10**6 + 1, ()),
        (math.inf, 1.0, ()),
        (1.0, math.inf, ()),
        (math.nan, 1.0, ()),
        (math.inf, -math.inf, ()),
        ([1.0], {"a": 1.0}, ()),
        (None, 0.0, ()),
    ],
)
def test_differences(expected, obtained, path):
    found = compare.differences(expected, obtained, rtol=1e-5)
    assert [each.path for each in found] == [path]


@pytest.mark.parametrize(
    "same",
    [(1, 1.0), (math.nan, math.nan), (math.inf, math.inf), (2.0, 2.0 + 1e-9), ("a", "a"), ([], [])],
)
def test_agreements(same):
    assert not compare.differences(*same, rtol=1e-5)
