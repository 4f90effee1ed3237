"""What is said of pins on releases: a word a cell, a sentence on all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tools.pins import agreement

if TYPE_CHECKING:
    from typing import Sequence

#: What a cell of the table says; a release that differs has its first step.
FIRST, SAME, DIFFERS, NOTHING = "first", "same", "differs", "-"


def cell(pin: agreement.Pin, release: str) -> str:
    """What the table says of a pin on a release.

    Args:
      pin: an ``agreement.Pin``.
      release: one of the releases of the table.
    """
    if release not in pin.values:
        return NOTHING
    if release == pin.first:
        return FIRST
    differences = pin.differences[release]
    if not differences:
        return SAME
    step = next((each for each in differences[0].path if isinstance(each, int)), None)
    return DIFFERS if step is None or pin.kind != "value" else "step %d" % step


def verdict(pins: Sequence[agreement.Pin]) -> str:
    """One sentence on all pins."""
    differ = len(agreement.differing(pins))
    alone = sum(len(pin.values) == 1 for pin in pins)
    releases = agreement.recorded(pins)
    text = "%s on TensorFlow %s: %s" % (
        _count(len(pins), "pin"),
        ", ".join(releases),
        "all agree"
        if not differ
        else "%d %s between releases" % (differ, "differs" if differ == 1 else "differ"),
    )
    if alone:
        text += "; %d recorded on one release only" % alone
    return text + "."


def _count(number: int, noun: str) -> str:
    return "%d %s%s" % (number, noun, "s" * (number != 1))
