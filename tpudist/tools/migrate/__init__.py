"""``tpudist migrate``: moves a code base from one era to the next.

Code is read by Python's own parser and never run; names are resolved, not guessed, and no
TensorFlow is imported. To change: a rule of :mod:`tpudist.tools.migrate.rules`, one a file.
"""

from __future__ import annotations

import argparse
import sys
from typing import Sequence

from tpudist.errors import MigrateError


def run(options: argparse.Namespace) -> int:
    """Runs the verb; returns the exit code of `outcomes.exit_code`.

    Options that do not fit together, or no files, raise a MigrateError.
    """
    if options.list_rules is None:
        _check(options)
    if sys.version_info < (3, 8):
        raise MigrateError(
            "Python %d.%d" % sys.version_info[:2],
            "before 3.8 Python does not say where code ends",
            "tpudist migrate with a newer Python; the code may be of any TensorFlow",
        )
    from tpudist.tools.migrate import rules

    if options.list_rules is not None:
        print(rules.explained(options.list_rules) if options.list_rules else rules.listed())
        return 0
    _check_rules(options, [key.name for key in rules.load()])
    return _run(options)


def _check(options: argparse.Namespace) -> None:
    if not options.paths:
        raise MigrateError("no PATH", "there is nothing to read", "tpudist migrate . --to 2.2")
    if "-" in options.paths and len(options.paths) > 1:
        raise MigrateError("- beside other paths", "its code is what is printed", "- alone")
    if options.to is None and options.level == "full":
        raise MigrateError(
            "no --to",
            "which names to write depends on it",
            "--to contrib|2.0|2.2|latest, or --level import",
        )


def _check_rules(options: argparse.Namespace, known: Sequence[str]) -> None:
    for name in options.only + options.skip:
        if name not in known:
            raise MigrateError(
                "rule %r" % name, "there is no such rule", "one of " + ", ".join(known)
            )


def _run(options: argparse.Namespace) -> int:
    from tpudist.tools.migrate import console, engine, outcomes

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
