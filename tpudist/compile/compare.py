"""Whether a program compiles to what it did before."""

from tpudist.pins import compare, message
from tpudist.pins.fixture import COMPILED_RTOL as RTOL

_COMPILER = ("libtpu",)


def record(report):
    """What of a report is compared, as JSON types.

    Sizes and FLOPs are floats, which agree within a tolerance; counts of
    collectives are ints, which agree if they are equal.

    Args:
      report: a `report.Report` of a program that compiles.
    """
    target, cost = report.target, report.cost
    return {
        "compiled for": "%s, %d x %d, %s"
        % (
            target.topology,
            target.replicas,
            target.logical_devices,
            "optimized" if target.optimized else "fast",
        ),
        "HBM": float(report.memory.total),
        "FLOPs": _number(cost.flops),
        "bytes accessed": _number(cost.bytes_accessed),
        "loops": cost.loops,
        "collectives asked for": {each.kind: each.count for each in report.requested},
        "collectives": {each.kind: each.count for each in report.optimized},
        "collective bytes": {each.kind: float(each.bytes) for each in report.optimized},
        "libtpu": report.versions.libtpu,
    }


def _number(value):
    return None if value is None else float(value)


def differences(expected, obtained, rtol=RTOL, atol=0.0):
    """[compare.Difference, ...]; another libtpu is one only beside others.

    Args:
      expected, obtained: what :func:`record` returned.
      rtol, atol: the tolerances.
    """
    found = compare.differences(expected, obtained, rtol, atol)
    return found if any(each.path != _COMPILER for each in found) else []


def explain(expected, obtained, rtol=RTOL):
    """What differs between two reports, as indented lines; "" if nothing does.

    Args:
      expected, obtained: `report.Report` records of programs that compile.
      rtol: the tolerance of HBM, FLOPs and bytes.
    """
    expected, obtained = record(expected), record(obtained)
    found = differences(expected, obtained, rtol)
    return message.explain(expected, obtained, found) if found else ""
