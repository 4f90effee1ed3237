"""Whether a program compiles to what it did before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tools.pins import compare, message
from tpudist.tools.pins.fixture import COMPILED_RTOL as RTOL

if TYPE_CHECKING:
    from tpudist.tools.compile.report import Report


def explain(expected: Report, obtained: Report, rtol: float = RTOL) -> str:
    """What differs between two reports, as indented lines; "" if nothing does.

    Args:
      expected, obtained: `report.Report` records of programs that compile.
      rtol: the tolerance of HBM, FLOPs and bytes.
    """
    before, after = expected.compared(), obtained.compared()
    found = compare.of_kind("compiled")(before, after, rtol)
    return message.explain(before, after, found) if found else ""
