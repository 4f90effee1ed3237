"""Curves of pinned values per release, drawn over each other with matplotlib."""

from __future__ import annotations

import io
from typing import Any, Sequence

from tpudist.errors import PinError
from tpudist.tools.pins import agreement

#: Pictures get no longer than this many curves; those that differ come first.
MOST = 24


def write_png(pins: Sequence[agreement.Pin], path: str) -> None:
    """Writes all curves as one PNG.

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
    figure = _figure(curves[:MOST])
    more = len(curves) - MOST
    left_out = " %d more curves are not shown." % more if more > 0 else ""
    figure.suptitle(agreement.verdict(pins) + left_out, x=0.01, ha="left", fontsize=10)
    figure.savefig(path, dpi=130, format="png")


def svg(curve: agreement.Curve) -> str:
    """One curve as the text of an SVG element."""
    text = io.StringIO()
    _figure([curve]).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _figure(curves: Sequence[agreement.Curve]) -> Any:
    """A row per curve."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PinError(
            "matplotlib: %s" % error, "it draws the curves", 'pip install "tpudist[report]"'
        ) from error
    height = 0.5 + 3.1 * len(curves)
    figure = Figure(figsize=(9, height))
    FigureCanvasAgg(figure)
    for curve, (axes,) in zip(curves, figure.subplots(len(curves), 1, squeeze=False)):
        _draw(axes, curve)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.4 / height))
    return figure


def _draw(axes: Any, curve: agreement.Curve) -> None:
    """Draws the line of each release, and one across at the first step that differs.

    Later lines are thinner, so that equal ones show each other.
    """
    for number, (release, line) in enumerate(curve.lines.items()):
        step = curve.steps.get(release)
        label = release if step is None else "%s, from step %d" % (release, step)
        width = 1.5 + 4 * (1 - number / len(curve.lines))
        (drawn,) = axes.plot(line, label=label, linewidth=width)
        if step is not None:
            axes.axvline(step, color=drawn.get_color(), linestyle=":")
    axes.set_title(curve.title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel("step")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(title="TensorFlow")
