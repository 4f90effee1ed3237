"""``tpudist matrix``: a command on several TensorFlow releases, one environment each.

uv makes the environments and provides missing Pythons; they are kept in a
cache and reused until the table's row or the project's metadata changes.
To change: what goes into an environment (:mod:`environments`); which releases there are is
in releases.cfg.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Mapping

from tpudist import console

if TYPE_CHECKING:
    from tpudist.toolbox.table import Row


def run(options: argparse.Namespace) -> int:
    """Runs ``tpudist matrix``.

    Returns:
      0 if the command passed everywhere, 1 if it failed on a release, 2 if a
      release could not be set up, 130 after Ctrl-C.

    Raises:
      MatrixError: the request cannot be met on any release.
      TPUNameError: there is no such virtual TPU.
    """
    from tpudist.toolbox import table
    from tpudist.tools.matrix import schedule
    from tpudist.virtual import system

    system.check(options.tpu)
    rows = table.read(options.table)
    if options.list:
        sys.stdout.write(listing(rows))
        return 0
    chosen = _chosen(rows, options)
    results = schedule.run_all(chosen, options)
    print("\n" + schedule.table(results), end="", flush=True)
    return schedule.exit_code(results)


def listing(rows: Mapping[str, Row]) -> str:
    """The table of releases as text."""
    lines = [
        "%-8s Python %-5s %s" % (row.release, row.python, row.requirement) for row in rows.values()
    ]
    return "\n".join(lines) + "\n"


def _chosen(rows: Mapping[str, Row], options: argparse.Namespace) -> list[Row]:
    """The rows that are named, and those that are drawn."""
    from tpudist.toolbox import table

    named = table.select(rows, options.releases) if options.releases or not options.random else []
    if not options.random:
        return named
    drawn, seed = table.draw(rows, named, options.random, options.seed)
    names = ", ".join(row.release for row in drawn)
    console.note("== drawn with --seed %d: %s" % (seed, names or "none is left"), sys.stdout)
    return named + drawn
