"""The picture: which lines are drawn, what is marked, and what is left out."""

import math

import pytest

from tpudist.tools.pins import agreement, charts

pytest.importorskip("matplotlib", reason="it draws the curves")

LINE = [1.0, 0.5, 0.25, 0.125]


def curve(steps=None, **lines):
    lines = {release[1:].replace("_", "."): line for release, line in lines.items()}
    return agreement.Curve("test: loss", steps or {}, lines)


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_every_release_is_drawn_over_the_others():
    (axes,) = charts._figure(curve(r1_15=LINE, r2_2=LINE, r2_15=LINE)).axes
    assert legend(axes) == ["1.15", "2.2", "2.15"]
    widths = [line.get_linewidth() for line in axes.lines]
    assert widths == sorted(widths, reverse=True) and len(set(widths)) == 3
    assert axes.get_title(loc="left") == "test: loss"


@pytest.mark.parametrize(
    ("line", "step"), [(LINE[:2] + [0.3, 0.2], 2), ([1.0, math.nan, 0.25, 0.125], 1), (LINE[:3], 3)]
)
def test_the_first_step_that_differs_is_marked(line, step):
    (axes,) = charts._figure(curve({"2.15": step}, r1_15=LINE, r2_15=line)).axes
    assert legend(axes) == ["1.15", "2.15, from step %d" % step]
    _, drawn, mark = axes.lines
    assert list(mark.get_xdata()) == [step, step] and mark.get_color() == drawn.get_color()


@pytest.mark.slow
def test_many_releases_still_draw():
    many = {"r2_%d" % i: [value * (1 + i) for value in LINE] for i in range(12)}
    steps = {"2.%d" % i: 0 for i in range(1, 12)}
    (axes,) = charts._figure(curve(steps, **many)).axes
    assert len(legend(axes)) == 12


def test_svg_is_one_element():
    text = charts.svg(curve(r1_15=LINE))
    assert text.startswith("<svg") and text.rstrip().endswith("</svg>") and "<?xml" not in text
