"""What ``tpudist migrate`` prints."""

from __future__ import annotations

import collections
import difflib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from typing import Iterable, Iterator, Sequence

    from tpudist.tools.migrate.outcomes import Result, Use
    from tpudist.tools.migrate.rules import Rule


def rules(every: Iterable[Rule]) -> str:
    """The list of rules, with the release note of each."""
    lines = []
    for rule in every:
        lines += ["%s (to %s)" % (rule.name, rule.step), "    " + rule.summary, "    " + rule.note]
    lines += ["imports (to all)", "    ``tf`` of a file becomes that of the era it was moved to."]
    return "\n".join(lines)


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


def summary(
    results: Iterable[Result],
    looked: int,
    options: argparse.Namespace,
    passed_over: Sequence[str] = (),
) -> str:
    """What was done and what is left.

    Args:
      results: the Results.
      looked: how many files there are.
      options: the parsed options.
      passed_over: files and folders that were not read, and that a user may miss.

    Returns:
      Lines, one a use that is left or file that is refused, and totals.
    """
    return "\n".join(lines(results, looked, options, passed_over))


def lines(
    results: Iterable[Result],
    looked: int,
    options: argparse.Namespace,
    passed_over: Sequence[str] = (),
) -> Iterator[str]:
    """As `summary`, line by line."""
    for result in results:
        if result.refused:
            yield "%s: refused: %s" % (result.path, result.refused)
        yield from map(left, result.left)
    verb = "rewritten" if options.write else "would be rewritten"
    for result in results:
        if result.before != result.after:
            yield "%s: %s: %s" % (result.path, verb, _counts(result.rewritten))
    if passed_over:
        yield "Not read, name them to have them read: " + ", ".join(passed_over)
    found = _Totals(results)
    yield found.line(looked)
    if not found.left and not found.refused:
        yield "Nothing left."
    if found.changed and not options.write:
        yield "Nothing was written: --write does, --diff shows."


def warn_of_changes(paths: Sequence[str]) -> None:
    """Says on standard error if git knows of changes below some paths that are not committed."""
    folder = paths[0] if os.path.isdir(paths[0]) else os.path.dirname(paths[0]) or "."
    command = ["git", "-C", folder, "status", "--porcelain", "--"]
    try:
        done = subprocess.run(
            command + [os.path.abspath(path) for path in paths],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):  # no git
        return
    count = len(done.stdout.splitlines()) if done.returncode == 0 else 0
    if count:
        print(
            "tpudist migrate: %d files here have changes that are not committed: git diff "
            "shows those and these together" % count,
            file=sys.stderr,
        )


def left(use: Use) -> str:
    """``path:line:col: rule: what was seen; what to do``."""
    return "%s:%d:%d: %s: %s; %s" % (
        use.path,
        use.line,
        use.column,
        use.rule,
        use.seen,
        use.instead,
    )


def _counts(uses: Iterable[Use]) -> str:
    counted = collections.Counter(use.rule for use in uses)
    return ", ".join("%s %d" % pair for pair in sorted(counted.items()))


class _Totals:
    def __init__(self, results: Iterable[Result]) -> None:
        self.eras = self.changed = self.rewritten = self.left = self.refused = 0
        for result in results:
            self.eras += bool(result.era)
            self.changed += result.before != result.after
            self.rewritten += len(result.rewritten)
            self.left += len(result.left)
            self.refused += bool(result.refused)

    def line(self, looked: int) -> str:
        return (
            "%d files, %d of them with legacy names: %d change, "
            "%d uses rewritten, %d left, %d files refused"
            % (looked, self.eras, self.changed, self.rewritten, self.left, self.refused)
        )
