"""The picture: who is drawn how, what is marked, and what is said where nothing is."""

import math

import pytest

from tpudist.tools.pins import agreement, charts

pytest.importorskip("matplotlib", reason="it draws the curves")

LINE = [1.0, 0.5, 0.25, 0.125]


def curve(steps=None, rtol=1e-5, **lines):
    lines = {release[1:].replace("_", "."): line for release, line in lines.items()}
    return agreement.Curve("test: loss", rtol, next(iter(lines)), steps or {}, lines)


def panels(*curves):
    """The axes of a figure: (curve, distances) for each curve."""
    axes = charts._figure(list(curves)).axes
    return list(zip(axes[::2], axes[1::2]))


def texts(axes):
    return [text.get_text().strip() for text in axes.texts]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_every_release_is_drawn_over_the_others():
    ((left, _),) = panels(curve(r1_15=LINE, r2_2=LINE, r2_15=LINE))
    assert legend(left) == ["1.15", "2.2", "2.15"]
    widths = [line.get_linewidth() for line in left.lines]
    assert widths == sorted(widths, reverse=True) and len(set(widths)) == 3
    assert left.get_title(loc="left") == "test: loss"


def test_what_differs_has_another_colour_and_a_mark():
    other = LINE[:2] + [0.3, 0.2]
    ((left, _),) = panels(curve({"2.15": 2}, r1_15=LINE, r2_15=other, r2_21=LINE))
    assert legend(left) == ["1.15", "2.15, from step 2", "2.21"]
    styles = charts._styles(curve({"2.15": 2}, r1_15=LINE, r2_15=other, r2_21=LINE))
    assert styles["2.15"]["color"] in charts._DIFFERS
    assert {styles["1.15"]["color"], styles["2.21"]["color"]} <= set(charts._AGREES)
    assert styles["2.15"]["zorder"] > styles["2.21"]["zorder"]
    (mark,) = [line for line in left.lines if line.get_marker() == "o"]
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([2], [0.3])


@pytest.mark.parametrize(
    "line, step, words",
    [
        ([1.0, math.nan, 0.25, 0.125], 1, "nan"),
        ([1.0, 0.5, math.inf, 0.1], 2, "inf"),
        (LINE[:3], 3, "ends"),
    ],
)
def test_a_step_without_a_value_is_marked_across(line, step, words):
    ((left, _),) = panels(curve({"2.15": step}, r1_15=LINE, r2_15=line))
    assert texts(left) == [words]
    assert [list(each.get_xdata()) for each in left.lines][-1] == [step, step]


def test_distances_are_relative_and_have_the_tolerance():
    near = [value * (1 + 1e-6) for value in LINE]
    ((_, right),) = panels(curve(r1_15=LINE, r2_15=near))
    assert right.get_yscale() == "log" and texts(right) == ["rtol"]
    assert list(right.lines[0].get_ydata()) == pytest.approx([1e-6] * 4, rel=1e-3)


def test_equal_steps_leave_gaps():
    ((_, right),) = panels(curve(r1_15=LINE, r2_15=LINE[:3] + [0.2]))
    drawn = list(right.lines[0].get_ydata())
    assert all(math.isnan(value) for value in drawn[:3]) and drawn[3] == pytest.approx(0.6)


@pytest.mark.parametrize(
    "made, words",
    [
        (curve(r1_15=LINE, r2_15=LINE), "none at any step"),
        (curve(r1_15=LINE), "recorded on 1.15 only"),
        (
            curve({"2.15": 1}, r1_15=LINE, r2_15=[1.0, math.nan, 0.25, 0.125]),
            "no other than the marked",
        ),
    ],
)
def test_no_distance_is_said(made, words):
    ((_, right),) = panels(made)
    assert texts(right) == [words]


@pytest.mark.parametrize(
    "base, value, distance",
    [
        (2.0, 1.0, 0.5),
        (-2.0, -1.0, 0.5),
        (1.0, 1.0, None),
        (0.0, 1.0, None),
        (1.0, math.inf, None),
        (math.nan, 1.0, None),
    ],
)
def test_distance(base, value, distance):
    found = charts._distance(base, value)
    assert math.isnan(found) if distance is None else found == distance


@pytest.mark.slow
def test_many_releases_and_curves_still_draw():
    many = {"r2_%d" % i: [value * (1 + i) for value in LINE] for i in range(12)}
    steps = {"2.%d" % i: 0 for i in range(1, 12)}
    assert len(panels(*[curve(steps, **many)] * 3)) == 3


def test_a_long_list_is_cut_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(charts, "MOST", 2)
    pins = [
        agreement.Pin("f", "test_%d" % i, "loss", "value", 0.0, "2.15", {}, {"2.15": LINE})
        for i in range(5)
    ]
    shown = []
    real = charts._figure
    monkeypatch.setattr(charts, "_figure", lambda curves: shown.append(curves) or real(curves))
    charts.write_png(pins, str(tmp_path / "x.png"))
    assert len(shown[0]) == 2
    headline = charts._headline(pins, [curve for pin in pins for curve in agreement.curves(pin)])
    assert headline.endswith("3 more curves are not shown.")


def test_those_that_differ_come_first(tmp_path, monkeypatch):
    from tpudist.tools.pins import compare

    other = [1.0, 0.6, 0.25, 0.125]
    pins = [
        agreement.Pin(
            "f",
            name,
            "loss",
            "value",
            0.0,
            "2.2",
            {"2.15": compare.differences(LINE, line)},
            {"2.2": LINE, "2.15": line},
        )
        for name, line in (("test_a", LINE), ("test_b", other))
    ]
    shown = []
    real = charts._figure
    monkeypatch.setattr(charts, "_figure", lambda curves: shown.extend(curves) or real(curves))
    charts.write_png(pins, str(tmp_path / "x.png"))
    assert [each.title for each in shown] == ["test_b: loss", "test_a: loss"]


def test_svg_is_one_element():
    text = charts.svg(curve(r1_15=LINE))
    assert text.startswith("<svg") and text.rstrip().endswith("</svg>") and "<?xml" not in text
