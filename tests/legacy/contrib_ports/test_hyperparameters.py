"""``HParams`` beside that of TensorFlow 1.15, where it is installed."""

import json

import pytest

from tpudist.legacy.contrib_ports.hyperparameters import HParams, ModeKeys, parse_values

tf = pytest.importorskip("tensorflow")

#: Texts to parse, on the same hyperparameters.
TEXTS = [
    "rate=0.5",
    "layers=[4,5],name=other",
    "layers[1]=7",
    "train=false, steps = 20",
    "rate=1e-3,layers=[1]",
    "rate=3",
    "train=1",
    "name=a b",
    "steps=1.5",
    "nothing=1",
    "rate=0.1,rate=0.2",
    "layers=4",
    "rate=",
    "train=maybe",
    "",
]


def classes():
    """Ours, and TensorFlow's where there is one."""
    found = [HParams]
    if hasattr(tf, "contrib"):
        found.append(tf.contrib.training.HParams)
    return found


def made(kind):
    return kind(rate=0.1, layers=[2, 3], name="net", train=True, steps=10)


def outcome(kind, text):
    """The values after parsing, or the class of the error."""
    params = made(kind)
    try:
        return params.parse(text).values()
    except Exception as error:  # noqa: BLE001
        return type(error)


@pytest.mark.parametrize("text", TEXTS)
def test_parse(text):
    outcomes = [outcome(kind, text) for kind in classes()]
    assert all(each == outcomes[0] for each in outcomes)


def test_parse_gives_values_of_their_type():
    params = made(HParams).parse("rate=3,layers=[9],train=false")
    assert params.values() == {
        "rate": 3.0,
        "layers": [9],
        "name": "net",
        "train": False,
        "steps": 10,
    }
    assert type(params.rate) is float


@pytest.mark.parametrize(
    "values",
    [
        {"rate": 1},
        {"steps": 2.5},
        {"name": 3},
        {"layers": 1},
        {"train": 1},
        {"layers": [1.5]},
        {"rate": "a"},
    ],
)
def test_override(values):
    def result(kind):
        try:
            return made(kind).override_from_dict(values).values()
        except Exception as error:  # noqa: BLE001
            return type(error)

    results = [result(kind) for kind in classes()]
    assert all(each == results[0] for each in results)


def test_the_rest_of_its_names():
    for kind in classes():
        params = made(kind)
        assert "rate" in params and "other" not in params
        assert params.get("rate") == 0.1 and params.get("other", 5) == 5
        params.add_hparam("extra", "x")
        assert params.extra == "x"
        params.del_hparam("extra")
        assert "extra" not in params
        with pytest.raises(ValueError, match="rate"):
            params.add_hparam("rate", 1)
        with pytest.raises(ValueError, match="empty"):
            params.add_hparam("empty", [])
        assert json.loads(params.to_json()) == params.values()
        assert made(kind).parse_json('{"steps": 3}').steps == 3
        params.set_model_structure("m")
        assert params.get_model_structure() == "m"


def test_parse_values():
    found = parse_values("a=1,b[2]=x", {"a": int, "b": str})
    assert found == {"a": 1, "b": {2: "x"}}
    assert parse_values("c=1,a=2", {"a": int}, ignore_unknown=True) == {"a": 2}


def test_modes():
    ModeKeys.validate(ModeKeys.TRAIN)
    with pytest.raises(ValueError, match="never"):
        ModeKeys.validate("never")
