"""Curves of pinned values per release, drawn over each other with matplotlib."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from tpudist.errors import PinError
from tpudist.tools.pins import agreement

if TYPE_CHECKING:
    from typing import Any, Sequence


#: Pictures get no longer than this many curves; those that differ come first.
MOST = 24

_AGREES, _DIFFERS = (
    ("#9ecae1", "#6baed6", "#3182bd", "#08519c"),
    ("#d95f02", "#e7298a", "#7570b3", "#b8860b", "#a6761d", "#d62728"),
)
_DASHES = ("-", (0, (5, 2)), (0, (2, 2)), (0, (6, 2, 1, 2)))
_GREY = "#666666"


def write_png(pins: Sequence[agreement.Pin], path: str) -> None:
    """Writes all curves as one PNG.

    Args:
      pins: a list of ``agreement.Pin``.
      path: the file.

    Raises:
      PinError: no matplotlib, or no pin is a list of numbers.
    """
    curves = [curve for pin in pins for curve in agreement.curves(pin)]
    curves.sort(key=lambda curve: not curve.steps)
    if not curves:
        raise PinError(
            "no pin of these is a list of numbers",
            "a curve has one number per step",
            'pin.check("loss", [loss of each step]); or leave --png out',
        )
    shown = curves[:MOST]
    figure = _figure(shown)
    figure.suptitle(_headline(pins, curves), x=0.01, ha="left", fontsize=10, color=_GREY)
    figure.savefig(path, dpi=130, format="png")


def svg(curve: agreement.Curve) -> str:
    """One curve as the text of an SVG element."""
    figure = _figure([curve])
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _headline(pins: Sequence[agreement.Pin], curves: Sequence[agreement.Curve]) -> str:
    left_out = len(curves) - MOST
    more = " %d more curves are not shown." % left_out if left_out > 0 else ""
    return agreement.verdict(pins) + more


def _figure(curves: Sequence[agreement.Curve]) -> Any:
    """A row per curve: the curve, and how far each release is from the first."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PinError(
            "matplotlib: %s" % error, "it draws the curves", 'pip install "tpudist[report]"'
        ) from error
    figure = Figure(figsize=(11, 0.5 + 3.1 * len(curves)))
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(curves), 2, squeeze=False, gridspec_kw={"width_ratios": (5, 3)})
    for curve, (left, right) in zip(curves, axes):
        styles = _styles(curve)
        _draw_lines(left, curve, styles)
        _draw_distances(right, curve, styles)
        for each in (left, right):
            each.spines["top"].set_visible(False)
            each.spines["right"].set_visible(False)
            each.grid(True, color="#eeeeee")
            each.set_axisbelow(True)
            each.set_xlabel("step", color=_GREY)
            each.xaxis.get_major_locator().set_params(integer=True)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.4 / (0.5 + 3.1 * len(curves))), h_pad=1.5, w_pad=2)
    return figure


def _styles(curve: agreement.Curve) -> dict[str, dict[str, Any]]:
    """{release: how its line is drawn}: blues agree, other colours differ.

    Later lines are thinner and broken, so that equal ones show each other.
    """
    styles, agree, differ = {}, 0, 0
    dash: Any
    for number, release in enumerate(curve.lines):
        if release in curve.steps:
            colour, width = _DIFFERS[differ % len(_DIFFERS)], 1.8
            dash, differ, number = "-", differ + 1, number + 20
        else:
            colour, dash = _AGREES[agree % len(_AGREES)], _DASHES[agree % len(_DASHES)]
            width, agree = max(1.4, 5.0 - agree), agree + 1
        styles[release] = {
            "color": colour,
            "linewidth": width,
            "linestyle": dash,
            "zorder": 2 + number,
        }
    return styles


def _draw_lines(axes: Any, curve: agreement.Curve, styles: dict[str, dict[str, Any]]) -> None:
    for release, line in curve.lines.items():
        step = curve.steps.get(release)
        label = release if step is None else "%s, from step %d" % (release, step)
        axes.plot(range(len(line)), line, label=label, **styles[release])
        if step is not None:
            _mark(axes, step, line, styles[release]["color"])
    axes.set_title(curve.title, loc="left", fontsize=11, fontweight="bold")
    axes.legend(frameon=False, fontsize=9, title="TensorFlow", title_fontsize=9)


def _mark(axes: Any, step: int, line: Sequence[float], colour: str) -> None:
    """Marks the first step that differs; a line across where it has no value."""
    if step < len(line) and math.isfinite(line[step]):
        axes.plot(
            [step],
            [line[step]],
            "o",
            markersize=7,
            markerfacecolor="white",
            markeredgewidth=1.6,
            color=colour,
            zorder=50,
        )
        return
    axes.axvline(step, color=colour, linestyle=":", linewidth=1.4)
    text = " ends" if step >= len(line) else " %s" % line[step]
    axes.text(step, 0.04, text, color=colour, transform=axes.get_xaxis_transform())


def _draw_distances(axes: Any, curve: agreement.Curve, styles: dict[str, dict[str, Any]]) -> None:
    """The distance of each release from the first, relative to the value."""
    base = curve.lines.get(curve.first) or next(iter(curve.lines.values()))
    axes.set_title(
        "relative difference from %s" % curve.first, loc="left", fontsize=10, color=_GREY
    )
    axes.set_xlim(-0.5, max(len(line) for line in curve.lines.values()) - 0.5)
    distances = {
        release: [_distance(*pair) for pair in zip(base, line)]
        for release, line in curve.lines.items()
        if release != curve.first
    }
    if not any(each > 0 for steps in distances.values() for each in steps):
        axes.set_yticks([])
        axes.text(
            0.5,
            0.5,
            _no_distance(curve),
            ha="center",
            va="center",
            transform=axes.transAxes,
            color=_GREY,
        )
        return
    for release, steps in distances.items():
        axes.plot(
            range(len(steps)),
            steps,
            marker=".",
            markersize=4,
            linewidth=0.9,
            color=styles[release]["color"],
            zorder=styles[release]["zorder"],
        )
    axes.set_yscale("log")
    if curve.rtol:
        axes.axhline(curve.rtol, color=_GREY, linewidth=1, linestyle="--")
        axes.text(
            0.99,
            curve.rtol,
            "rtol",
            ha="right",
            va="bottom",
            fontsize=9,
            color=_GREY,
            transform=axes.get_yaxis_transform(),
        )


def _distance(base: float, value: float) -> float:
    """The relative difference; nan, which is not drawn, if there is none to draw."""
    if not base or base == value or not math.isfinite(base) or not math.isfinite(value):
        return math.nan
    return abs(value - base) / abs(base)


def _no_distance(curve: agreement.Curve) -> str:
    if len(curve.lines) == 1:
        return "recorded on %s only" % curve.first
    return "no other than the marked" if curve.steps else "none at any step"
