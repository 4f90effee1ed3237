"""Whether a program compiles to what it did before."""

from tpudist.pins import compare, message
from tpudist.pins.fixture import COMPILED_RTOL as RTOL


def explain(expected, obtained, rtol=RTOL):
    """What differs between two reports, as indented lines; "" if nothing does.

    Args:
      expected, obtained: `report.Report` records of programs that compile.
      rtol: the tolerance of HBM, FLOPs and bytes.
    """
    expected, obtained = expected.compared(), obtained.compared()
    found = compare.of_kind("compiled")(expected, obtained, rtol)
    return message.explain(expected, obtained, found) if found else ""
