"""The options of ``tpudist migrate``; imports only the table, so that ``--help`` is quick."""

from __future__ import annotations

import argparse

from tpudist import surfaces

#: {an option that may be given again: (what it takes, its help)}.
LISTS = {
    "exclude": ("PATTERN", 'files and folders to leave out ("third_party/*")'),
    "only": ("RULE", "only this rule"),
    "skip": ("RULE", "not this rule"),
}
TARGETS = tuple(map(surfaces.spelled, surfaces.ERAS)) + ("latest",)
ORIGINS = ("auto", "1.11", "1.13", "1.15", "2.0", "2.2")


def add(verb: argparse.ArgumentParser) -> None:
    """Adds the options to an ``argparse`` parser."""
    verb.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (.py, .ipynb)")
    for name, (taken, text) in LISTS.items():
        text += "; may be given again"
        verb.add_argument("--" + name, action="append", default=[], metavar=taken, help=text)
    verb.add_argument(
        "--to",
        choices=TARGETS,
        help="whose names to write: an era of tpudist, or latest: plain TensorFlow",
    )
    verb.add_argument(
        "--from",
        dest="origin",
        choices=ORIGINS,
        default="auto",
        help="the oldest TensorFlow the code was written for; by default what its names tell",
    )
    verb.add_argument(
        "--explain",
        metavar="PATH",
        help="change nothing; say of which TensorFlow a file is taken to be, and why",
    )
    verb.add_argument(
        "--level",
        choices=("full", "import"),
        default="full",
        help="import: swap only the imports for the drop-in namespace of each "
        "file's era; full (default): rewrite uses",
    )
    verb.add_argument(
        "--list-rules",
        nargs="?",
        const="",
        metavar="KEY",
        help="what each rule does, and its release note; of one, what to type and an example",
    )
    _add_output(verb)


def _add_output(verb: argparse.ArgumentParser) -> None:
    mode = verb.add_mutually_exclusive_group()
    mode.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 if a file would change"
    )
    mode.add_argument("--diff", action="store_true", help="write nothing; print the changes")
    mode.add_argument("--write", action="store_true", help="change the files")
    verb.add_argument(
        "--report", choices=("html", "json"), help="print a report of everything on standard output"
    )
