"""Measures every figure of compat/FIGURES.md. Run by hand, on a quiet machine.

    python tests/benchmarks/run.py [--quick] [--only NAME ...]

Prints a Markdown table, each line as soon as it is measured. ``--quick`` checks
that everything can be measured; its numbers mean nothing. The exit code is 0
whatever the numbers are: what holds on one machine need not on another.
"""

import argparse
import importlib
import os
import platform
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def line(figure):
    """A line of the table."""
    bound = "-" if figure.bound is None else "%.2f%s" % (figure.bound, figure.unit)
    mark = "" if figure.bound is None or figure.measured <= figure.bound else " (above)"
    return "| %s | %.2f%s%s | %s |" % (figure.what, figure.measured, figure.unit, mark, bound)


def tensorflow_version():
    """The installed TensorFlow's version, without importing it."""
    from tpudist import machine
    from tpudist.toolbox import installed

    found, _ = installed.distributions()
    return " ".join("%s %s" % (name, found[name]) for name in machine.TENSORFLOWS if name in found)


def main(argv=None):
    """Prints the table; returns the exit code."""
    rows = importlib.import_module("tests.benchmarks.rows")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, no meaning")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(rows.ROWS),
        help="measure only this; may be given several times",
    )
    options = parser.parse_args(argv)
    sizes = rows.QUICK if options.quick else rows.FULL
    print(
        "%s, Python %s, %d CPUs%s\n"
        % (
            tensorflow_version(),
            platform.python_version(),
            os.cpu_count(),
            ", --quick: the numbers mean nothing" if options.quick else "",
        )
    )
    print("| what | measured | at most |\n|---|---|---|", flush=True)
    for name in options.only or rows.ROWS:
        for figure in rows.ROWS[name](sizes):
            print(line(figure), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
