"""Prints the results of ``tpudist migrate``, as text and as JSON."""

from __future__ import annotations

import argparse
import collections
import difflib
import json
from typing import Any, Iterable, Iterator, Sequence

from tpudist.tools.migrate import outcomes
from tpudist.tools.migrate.outcomes import Result, Use


def diff(result: Result) -> str:
    """The unified diff of one Result, "" if nothing changes."""
    if result.before == result.after or result.before is None or result.after is None:
        return ""
    before, after = (
        text.decode("utf-8", "replace").splitlines(True) for text in (result.before, result.after)
    )
    lines = difflib.unified_diff(before, after, result.path, result.path)
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
    )


def lines(
    results: Sequence[Result],
    looked: int,
    options: argparse.Namespace,
    passed_over: Sequence[str] = (),
) -> Iterator[str]:
    """Yields the lines of findings, refused files, files that change, and of what is missed."""
    for result in results:
        if result.refused:
            yield "%s: refused: %s" % (result.path, result.refused)
    for finding in outcomes.findings(results):
        yield from finding.lines()
    verb = "rewritten" if options.write else "would be rewritten"
    for result in results:
        if result.before != result.after:
            yield "%s: %s: %s" % (result.path, verb, counts(result.rewritten) or "marks")
    if passed_over:
        yield "Not read, name them to have them read: " + ", ".join(passed_over)
    yield totals(results, looked, options.write)
    if not any(each.left or each.refused for each in results):
        yield "Nothing left."
    if not options.write and any(each.before != each.after for each in results):
        yield "Nothing was written: --write does, --diff shows."


def totals(results: Sequence[Result], looked: int, is_written: bool) -> str:
    """The number of files and uses, by outcome."""
    return "%s read, %d %s: %s rewritten, %d left, %s refused" % (
        _count(looked, "file"),
        sum(each.before != each.after for each in results),
        "changed" if is_written else "would change",
        _count(sum(len(each.rewritten) for each in results), "use"),
        sum(len(each.left) for each in results),
        _count(sum(bool(each.refused) for each in results), "file"),
    )


def _count(number: int, word: str) -> str:
    return "%d %s%s" % (number, word, "s" * (number != 1))


def counts(uses: Iterable[Use]) -> str:
    """The number of uses that each rule rewrote."""
    counted = collections.Counter(use.rule for use in uses)
    return ", ".join("%s %d" % pair for pair in sorted(counted.items()))


def as_json(results: Sequence[Result], looked: int, options: argparse.Namespace) -> str:
    """Everything, as a JSON object: ``files`` (those that matter), ``findings``, and totals."""
    whole = {
        "to": options.to,
        "level": options.level,
        "files_looked_at": looked,
        "files": list(map(_file, results)),
        "findings": [
            {"key": e.key, "said": e.said(), "instead": e.uses[0].instead, "places": e.places()}
            for e in outcomes.findings(results)
        ],
    }
    return json.dumps(whole, indent=1, sort_keys=True)


def _file(result: Result) -> dict[str, Any]:
    return {
        "path": result.path,
        "era": result.era,
        "refused": result.refused,
        "changes": result.before != result.after,
        "rewritten": list(map(_use, result.rewritten)),
        "left": list(map(_use, result.left)),
    }


def _use(use: Use) -> dict[str, Any]:
    return {name: value for name, value in use._asdict().items() if name != "path"}
