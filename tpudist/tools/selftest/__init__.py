"""``tpudist selftest``: the programs of all surfaces on the TPU at hand, against records.

Nobody who wrote this has a TPU: whoever has one can tell with it whether tpudist is right
there. Each surface runs in a process of its own (:mod:`worker`), which reports value by
value, so that a crash or a hang costs the rest of one surface. To change: a program in a
module of :mod:`tpudist.tools.selftest.programs`, then ``python -m tests.tools.selftest.record``.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from tpudist import machine
from tpudist.cloud import places
from tpudist.errors import ArgumentError
from tpudist.tools.doctor import environment

if TYPE_CHECKING:
    import argparse

#: Seconds that all of it may take.
SECONDS = 280.0


def run(options: argparse.Namespace) -> int:
    """Runs the programs, writes the reports, prints what came of it.

    Args:
      options: parsed ``tpu`` (or None), ``json`` and ``html`` (paths).

    Returns:
      0 if every value that was tried agrees, else 1.

    Raises:
      ArgumentError: the folder of a report does not exist.
      TPUNameError: there is no such virtual TPU; nothing is written.
    """
    from tpudist.tools.selftest import processes, report
    from tpudist.virtual import system

    for path in (options.json, options.html):
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise ArgumentError(
                "a report to %s" % path, "there is no folder %s" % folder, "mkdir -p " + folder
            )
    name = tpu_at_hand(options.tpu)
    system.check(name)
    print("tpudist selftest on %s, for %d seconds at most" % (name, SECONDS))
    start = time.monotonic()
    lines = processes.all_surfaces(name, start + SECONDS)
    made = report.made(name, lines, time.monotonic() - start)
    report.write(made, options.json, options.html)
    print(report.text(made, options.json, options.html))
    return int(not made["ok"])


def tpu_at_hand(name: str | None) -> str:
    """The TPU to test: the one named, else what this machine has, else a virtual one."""
    variables = dict(os.environ)
    if name:
        variables.pop(machine.TPU, None)
    place = places.of(name, variables, environment.tpu_chips())
    return place.name or "virtual:8"
