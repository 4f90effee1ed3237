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
            counted = collections.Counter(use.rule for use in result.rewritten)
            counts = ", ".join("%s %d" % pair for pair in sorted(counted.items()))
            yield "%s: %s: %s" % (result.path, verb, counts or "marks")
    if passed_over:
        yield "Not read, name them to have them read: " + ", ".join(passed_over)
    yield totals(results, looked, options.write)
    if not any(each.left or each.refused for each in results):
        yield "Nothing left."
    if not options.write and any(each.before != each.after for each in results):
        yield "Nothing was written: --write does, --diff shows."


def totals(results: Sequence[Result], looked: int, is_written: bool) -> str:
    """The number of files and uses, by outcome."""

    def count(number: int, word: str) -> str:
        return "%d %s%s" % (number, word, "s" * (number != 1))

    return "%s read, %d %s: %s rewritten, %d left, %s refused" % (
        count(looked, "file"),
        sum(each.before != each.after for each in results),
        "changed" if is_written else "would change",
        count(sum(len(each.rewritten) for each in results), "use"),
        sum(len(each.left) for each in results),
        count(sum(bool(each.refused) for each in results), "file"),
    )


def as_json(results: Sequence[Result], looked: int, options: argparse.Namespace) -> str:
    """Everything, as a JSON object: ``files`` (those that matter), ``findings``, and totals."""

    def plain(uses: Iterable[Use]) -> list[dict[str, Any]]:
        return [{k: v for k, v in use._asdict().items() if k != "path"} for use in uses]

    whole = {
        "to": options.to,
        "level": options.level,
        "files_looked_at": looked,
        "files": [
            {
                "path": each.path,
                "era": each.era,
                "refused": each.refused,
                "changes": each.before != each.after,
                "rewritten": plain(each.rewritten),
                "left": plain(each.left),
            }
            for each in results
        ],
        "findings": [
            {"key": e.key, "said": e.said(), "instead": e.uses[0].instead, "places": e.places()}
            for e in outcomes.findings(results)
        ],
    }
    return json.dumps(whole, indent=1, sort_keys=True)
