"""Curves of pinned values per release, drawn over each other with matplotlib."""

from __future__ import annotations

import io
from typing import Any

from tpudist.errors import PinError
from tpudist.tools.pins import agreement


def svg(curve: agreement.Curve) -> str:
    """One curve as the text of an SVG element.

    Raises:
      PinError: no matplotlib.
    """
    text = io.StringIO()
    _figure(curve).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _figure(curve: agreement.Curve) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PinError(
            "matplotlib: %s" % error, "it draws the curves", 'pip install "tpudist[report]"'
        ) from error
    figure = Figure(figsize=(9, 3.6))
    FigureCanvasAgg(figure)
    _draw(figure.subplots(), curve)
    figure.tight_layout()
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
