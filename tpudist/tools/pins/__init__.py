"""Pins: values that a test recorded once and compares from then on.

A pytest plugin with a ``pin`` fixture (:mod:`tpudist.tools.pins.fixture`), and
``tpudist pins report``. Importing this package, and having the plugin
installed, imports neither TensorFlow nor numpy.
To change: what a value is recorded as (:mod:`values`) and when it agrees (:mod:`compare`).
"""

from __future__ import annotations

import argparse

#: A test module's pins are in a file of its name with this ending, beside it.
SUFFIX = ".pins.json"


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "pins",
        help="values that tests recorded: which releases agree",
        description="A test records values with the fixture 'pin' and compares them from "
        "then on, on every TensorFlow release.",
    )
    actions = verb.add_subparsers(dest="action", metavar="ACTION")
    actions.required = True
    report = actions.add_parser(
        "report", help="which releases agree", description="Exit code 1 if releases differ."
    )
    report.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="folders, test modules or pin files; by default this folder",
    )
    return verb


def run(options: argparse.Namespace) -> int:
    """Runs the verb; see ``tpudist.tools.pins.report.run``."""
    from tpudist.tools.pins import report

    return report.run(options.paths)
