"""The options of ``tpudist migrate``. No TensorFlow, no numpy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

#: {an option that may be given again: (what it takes, its help)}.
_LISTS = {
    "--exclude": ("PATTERN", 'files and folders to leave out ("third_party/*")'),
    "--only": ("RULE", "only this rule"),
    "--skip": ("RULE", "not this rule"),
}
_TARGETS = (*map(surfaces.spelled, surfaces.ERAS), "latest")
#: The releases that ``--from`` takes, oldest first, after "auto".
_ORIGINS = ("auto", "1.11", "1.13", "1.15", "2.0", "2.2")


def add(verbs: _Verbs) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "migrate",
        help="rewrite a code base for the names of a later era",
        allow_abbrev=False,
        description="Rewrites code of one era for the next: names are resolved, not guessed. "
        "Writes nothing without --write. Exit code 1 if a use is left (or, with --check, a file "
        "would change), 2 if a file was refused.",
    )
    verb.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files and folders (.py, .ipynb); of a file, the program around it is read as well; "
        "- is standard input, whose new code is printed",
    )
    for name, (taken, text) in _LISTS.items():
        text += "; may be given again"
        verb.add_argument(name, action="append", default=[], metavar=taken, help=text)
    verb.add_argument(
        "--to",
        choices=_TARGETS,
        help="whose names to write: an era of tpudist, or latest: plain TensorFlow",
    )
    verb.add_argument(
        "--keras",
        choices=("2", "3"),
        default="2",
        help="with --to latest, which Keras runs the program: 2, by the package tf_keras, with the "
        "same numbers (default), or 3, which today's tf.keras is",
    )
    verb.add_argument(
        "--from",
        dest="origin",
        choices=_ORIGINS,
        default="auto",
        help="the oldest TensorFlow the code was written for; by default what its names show",
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
    return verb


def _add_output(verb: argparse.ArgumentParser) -> None:
    mode = verb.add_mutually_exclusive_group()
    mode.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 if a file would change"
    )
    mode.add_argument("--diff", action="store_true", help="write nothing; print the changes")
    mode.add_argument("--write", action="store_true", help="change the files")
    verb.add_argument(
        "--report", choices=("json",), help="print a report of everything on standard output"
    )


def run(options: argparse.Namespace) -> int:
    """Runs the verb; see ``tpudist.tools.migrate.run``."""
    from tpudist.tools import migrate

    return migrate.run(options)
