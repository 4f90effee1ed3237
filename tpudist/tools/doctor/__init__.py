"""``tpudist doctor``: what is installed, what cannot work together, what to type.

TensorFlow is imported only in a separate process, so the doctor reports even
where it is missing, hangs or kills the process. It uses no network. To change: a check
(:mod:`checks`), with a case in tests/tools/doctor/machines.py.
"""

from __future__ import annotations

import argparse
import sys

from tpudist import console


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "doctor",
        help="what is installed, what does not fit, what to type",
        description="Reports TensorFlow, Keras, TPU and their mismatches. Exit code 1 "
        "if there are problems. Asks no network.",
    )
    verb.add_argument("--json", action="store_true", help="one JSON object, for programs")
    verb.add_argument(
        "--constraints",
        metavar="RELEASE",
        help="print the pins without which a TensorFlow release, such as 1.15 or tpu-2.20, does "
        "not work, and nothing else: a constraints file for pip install -c",
    )
    return verb


def run(options: argparse.Namespace) -> int:
    """``tpudist doctor``: reports what is installed and what to type.

    Args:
      options: parsed ``json`` (bool; keys of that object only ever get added) and
        ``constraints`` (a text or None).

    Returns:
      0 if nothing is wrong (notes do not count), 1 if there are problems.
    """
    if options.constraints:
        from tpudist.toolbox import table

        print(table.constraints(options.constraints), end="")
        return 0
    from tpudist.tools.doctor import environment, report

    with console.working("looking at TensorFlow"):
        found = environment.detect()
    text, code = report.written(found, options.json)
    sys.stdout.write(text)
    return code
