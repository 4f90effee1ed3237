"""Parsing of ``--args``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpudist.errors import ArgumentError
from tpudist.tools.compile import arguments
from tpudist.tools.compile.arguments import Spec


@pytest.mark.parametrize(
    ("text", "args", "kwargs"),
    [
        ("", (), {}),
        (
            "f32[128,28,28,1],s32[128]",
            (Spec("float32", (128, 28, 28, 1)), Spec("int32", (128,))),
            {},
        ),
        (" bf16[ 2 , 3 ] , pred[] ", (Spec("bfloat16", (2, 3)), Spec("bool", ())), {}),
        ("f32[1],y=s64[2]", (Spec("float32", (1,)),), {"y": Spec("int64", (2,))}),
        (
            "(f32[1],s32[2]),f16[]",
            ((Spec("float32", (1,)), Spec("int32", (2,))), Spec("float16", ())),
            {},
        ),
        (
            "{image:f32[1],rest:(u8[2],)}",
            ({"image": Spec("float32", (1,)), "rest": (Spec("uint8", (2,)),)},),
            {},
        ),
        ("()", ((),), {}),
        ("3,n=100", (3,), {"n": 100}),
        ("-1.5,(f32[2],1e-3),k=True", (-1.5, (Spec("float32", (2,)), 0.001)), {"k": True}),
        ("mode='train(x=[])'", (), {"mode": "train(x=[])"}),
    ],
)
def test_parses(text, args, kwargs):
    assert arguments.parse(text) == (args, kwargs)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("f32", "f32 is no shape and no value"),
        ("f33[2]", "no dtype 'f33'"),
        ("f32[2] s32[2]", ""),
        ("x=f32[2],s32[2]", "positional argument follows"),
        ("f32[a]", "f32 is no shape"),
        ("f32[-1]", "f32 is no shape"),
        ("f32[?,2]", ""),
        ("f32[2,,3]", ""),
        ("(f32[2]", ""),
        ("f32[2])(f32[2]", ""),
        ("{f32[2]}", "no shape and no value"),
        ("f32[2],,f32[2]", ""),
        ("n=1,x=f32[2],n=2", ""),
        ("{n:f32[2],n:f32[3]}", "'n' is given twice"),
        ("*f32[2]", "no shape and no value"),
        ("**{n:f32[2]}", "a name is missing"),
        ("None", "no shape and no value"),
    ],
)
def test_refuses_wrong_text(text, why):
    with pytest.raises(ArgumentError) as caught:
        arguments.parse(text)
    assert why in str(caught.value)
    assert repr(text) in str(caught.value)


SPECS = st.builds(
    Spec,
    st.sampled_from(["float32", "bfloat16", "int32", "bool"]),
    st.lists(st.integers(0, 999), max_size=4),
)
NAMES = st.text("abcxyz_", min_size=1, max_size=3)
NESTS = st.recursive(
    SPECS,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple) | st.dictionaries(NAMES, inner, max_size=3)
    ),
    max_leaves=6,
)


XLA = {"float32": "f32", "bfloat16": "bf16", "int32": "s32", "bool": "pred"}


def written(nest):
    if isinstance(nest, tuple):
        return "(%s)" % "".join(written(each) + ", " for each in nest)
    if isinstance(nest, dict):
        return "{%s}" % ",".join("%s: %s" % (name, written(each)) for name, each in nest.items())
    return "%s[%s]" % (XLA[nest.dtype], ",".join(map(str, nest.shape)))


@given(st.lists(NESTS, max_size=3), st.dictionaries(NAMES, NESTS, max_size=2))
def test_formatted_arguments_are_parsed(args, kwargs):
    text = ",".join(
        [written(each) for each in args]
        + ["%s=%s" % (name, written(each)) for name, each in kwargs.items()]
    )
    assert arguments.parse(text) == (tuple(args), kwargs)


@given(st.text("f32s[](){},:= x1", max_size=20))
def test_any_text_is_parsed_or_refused(text):
    try:
        args, kwargs = arguments.parse(text)
    except ArgumentError:
        return
    assert isinstance(args, tuple) and isinstance(kwargs, dict)
