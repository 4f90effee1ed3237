"""``tpudist migrate``: moves a code base from one era to the next.

Code is read by Python's own parser and never run; names are resolved, not guessed, and no
TensorFlow is imported. To change: a rule of :mod:`tpudist.tools.migrate.rules`, one a file.
"""

from __future__ import annotations

import argparse
import sys

from tpudist import surfaces
from tpudist.errors import MigrateError

_TARGETS = (*map(surfaces.spelled, surfaces.ERAS), "latest")
#: The releases that ``--from`` takes, oldest first, after "auto".
_ORIGINS = ("auto", "1.11", "1.13", "1.15", "2.0", "2.2")


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
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
    verb.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help='files and folders to leave out ("third_party/*"); may be given again',
    )
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
    """Runs the verb; returns the exit code of `outcomes.exit_code`.

    Options that do not fit together, or no files, raise a MigrateError.
    """
    if options.list_rules is None and not options.paths:
        raise MigrateError("no PATH", "there is nothing to read", "tpudist migrate . --to 2.2")
    if options.list_rules is None and options.to is None and options.level == "full":
        raise MigrateError(
            "no --to",
            "which names to write depends on it",
            "--to contrib|2.0|2.2|latest, or --level import",
        )
    if sys.version_info < (3, 8):
        raise MigrateError(
            "Python %d.%d" % sys.version_info[:2],
            "before 3.8 Python does not say where code ends",
            "tpudist migrate with a newer Python; the code may be of any TensorFlow",
        )
    from tpudist.tools.migrate import console, engine, outcomes, rules

    if options.list_rules is not None:
        print(rules.explained(options.list_rules) if options.list_rules else rules.listed())
        return 0
    if "-" in options.paths and len(options.paths) > 1:
        raise MigrateError("- beside other paths", "its code is what is printed", "- alone")
    is_printed = "-" in options.paths and not (options.check or options.diff or options.report)
    options.write = options.write or is_printed
    results: list[outcomes.Result] = []
    try:
        results, looked, passed_over = engine.results(options)
        if options.write:
            results = [engine.write(result) for result in results]
    except KeyboardInterrupt:
        done = [result.path for result in results if engine.is_written(result)]
        print("tpudist: interrupted; written: %s" % (", ".join(done) or "no file"), file=sys.stderr)
        return 130
    if not looked:
        raise MigrateError(
            "no .py or .ipynb file below " + ", ".join(options.paths),
            "there is nothing to read",
            "a path that has some",
        )
    if options.diff:
        for result in results:
            sys.stdout.write(console.diff(result))
    page = sys.stderr if options.report or options.diff or is_printed else sys.stdout
    for line in console.lines(results, looked, options, passed_over):
        print(line, file=page)
    if options.report:
        print(console.as_json(results, looked, options))
    return outcomes.exit_code(results, options.check)
