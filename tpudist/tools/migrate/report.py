"""The reports: JSON for programs, one HTML page for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tpudist.tools import html_page
from tpudist.tools.html_page import safe
from tpudist.tools.migrate import console, findings

if TYPE_CHECKING:
    import argparse
    from typing import Any, Iterable, Sequence

    from tpudist.tools.migrate.findings import Finding
    from tpudist.tools.migrate.outcomes import Result, Use


_STYLE = """\
body { color: #1f2933; background: #fff; }
h2 { font-size: 1.1rem; }
table { width: 100%; }
td, th { border-color: #e4e7eb; vertical-align: top; }
td { overflow-wrap: anywhere; }
td:nth-child(2) { overflow-wrap: normal; white-space: nowrap; }
td.n { text-align: right; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: #f5f7fa; border-radius: 6px; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; }
.card { border: 1px solid #d9e2ec; border-radius: 6px; padding: .6rem 1.2rem; }
.card b { display: block; font-size: 1.6rem; }
.add { background: #d3f9d8; display: block; }
.del { background: #ffe3e3; display: block; }
.at { color: #627d98; display: block; }
.refused { color: #b00020; }
@media (prefers-color-scheme: dark) {
  body { color: #e4e7eb; background: #151a21; }
  pre { background: #1f2730; }
  .add { background: #143d22; }
  .del { background: #4a1c1f; }
  .card, td, th { border-color: #3e4c59; }
}
"""


def as_json(results: Iterable[Result], looked: int, options: argparse.Namespace) -> str:
    """Everything, as a JSON object: ``files`` (those that matter), ``findings``, and totals."""
    return json.dumps(
        {
            "to": options.to,
            "level": options.level,
            "files_looked_at": looked,
            "files": [
                {
                    "path": result.path,
                    "era": result.era,
                    "refused": result.refused,
                    "changes": result.before != result.after,
                    "rewritten": [_fields(use) for use in result.rewritten],
                    "left": [_fields(use) for use in result.left],
                }
                for result in results
            ],
            "findings": [
                {
                    "key": finding.key,
                    "said": finding.said(),
                    "instead": finding.uses[0].instead,
                    "places": finding.places(),
                }
                for finding in findings.of(results)
            ],
        },
        indent=1,
        sort_keys=True,
    )


def _fields(use: Use) -> dict[str, Any]:
    return {name: value for name, value in use._asdict().items() if name != "path"}


def as_html(results: Iterable[Result], looked: int, options: argparse.Namespace) -> str:
    """One page without scripts: totals, what is left, files with their diff."""
    title = "tpudist migrate, %s" % ("to " + options.to if options.to else "imports")
    parts = [_cards(results, looked), _left(results), _files(results)]
    return html_page.whole(title, parts, style=_STYLE)


def _cards(results: Iterable[Result], looked: int) -> str:
    numbers = [
        (looked, "files"),
        (sum(1 for each in results if each.era), "with legacy names"),
        (sum(1 for each in results if each.before != each.after), "change"),
        (sum(len(each.rewritten) for each in results), "uses rewritten"),
        (sum(len(each.left) for each in results), "left"),
        (sum(1 for each in results if each.refused), "files refused"),
    ]
    return "<div class=cards>%s</div>" % "".join(
        "<div class=card><b>%d</b>%s</div>" % number for number in numbers
    )


def _left(results: Iterable[Result]) -> str:
    found = findings.of(results)
    refused = [result for result in results if result.refused]
    if not found and not refused:
        return "<h2>Nothing left</h2>"
    rows = [_finding(each) for each in found]
    rows += [
        "<tr class=refused><td><code>%s</code><td>refused<td colspan=2>%s"
        % (safe(each.path), safe(each.refused))
        for each in refused
    ]
    return (
        "<h2>Left</h2><table><tr><th>where<th>key<th>seen<th>what to type</tr>%s</table>"
        % "".join(rows)
    )


def _finding(finding: Finding) -> str:
    first, *others = finding.uses
    more = [
        "<p><code>%s %s</code></p>" % (safe(place), safe(use.seen))
        for place, use in zip(finding.places()[1:], others)
    ]
    if more:
        more = ["<details><summary>and %d more</summary>" % len(more), *more, "</details>"]
    return "<tr><td><code>%s</code><td>%s<td><code>%s</code> %s%s<td>%s" % (
        safe(finding.places()[0]),
        safe(finding.key),
        safe(first.seen),
        safe(first.why),
        "".join(more),
        safe(first.instead),
    )


def _files(results: Iterable[Result]) -> str:
    parts = ["<h2>Files</h2>"]
    are_few = sum(1 for _ in results) < 20
    for result in results:
        changes = console.diff(result)
        parts.append(
            "<details%s><summary><code>%s</code> %s, %d rewritten, %d left</summary>%s"
            "</details>"
            % (
                " open" if changes and are_few else "",
                safe(result.path),
                safe(result.era or "no era"),
                len(result.rewritten),
                len(result.left),
                _rewritten(result.rewritten) + _diff(changes) if changes else "<p>No change.</p>",
            )
        )
    return "\n".join(parts)


def _rewritten(uses: Sequence[Use]) -> str:
    rows = "".join(
        "<tr><td class=n>%d:%d<td>%s<td><code>%s</code><td><code>%s</code>"
        % (use.line, use.column, safe(use.rule), safe(use.seen), safe(use.instead))
        for use in uses
    )
    return "<table><tr><th>where<th>rule<th>seen<th>rewritten to</tr>%s</table>" % rows


def _diff(changes: str) -> str:
    kinds = {"+": "add", "-": "del", "@": "at"}
    return "<pre>%s</pre>" % "".join(
        "<span class=%s>%s</span>" % (kinds[line[0]], safe(line))
        if line[0] in kinds
        else safe(line)
        for line in changes.splitlines(True)
        if line
    )


FORMS = {"html": as_html, "json": as_json}
