"""The options of ``tpudist selftest``. No TensorFlow, no numpy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add(verbs: _Verbs) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "selftest",
        help="the programs of all surfaces on the TPU at hand, against recorded values",
        description="Runs programs of each surface on the TPU at hand (a virtual one where "
        "there is none), compares what they give with records, and writes a report. "
        "Sets nothing, and says what it could not try. Exit code 1 if a value differs, 3 if the "
        "time was up before the end.",
    )
    verb.add_argument("--tpu", metavar="NAME", help="a TPU's name or address, local, or virtual:8")
    told = "end it after that time; by default 280"
    verb.add_argument("--timeout", type=float, metavar="SECONDS", default=280.0, help=told)
    name = "tpudist-selftest.json"
    verb.add_argument("--json", metavar="FILE", default=name, help="by default " + name)
    return verb


def run(options: argparse.Namespace) -> int:
    """Runs the verb; see ``tpudist.tools.selftest.run``."""
    from tpudist.tools import selftest

    return selftest.run(options)
