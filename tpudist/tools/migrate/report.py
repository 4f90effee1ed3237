"""The reports: JSON for programs, one HTML page for people."""

from __future__ import annotations

import argparse
import json
from typing import Any, Iterable, Sequence

from tpudist.toolbox import html_page
from tpudist.toolbox.html_page import safe
from tpudist.tools.migrate import console, findings
from tpudist.tools.migrate.findings import Finding
from tpudist.tools.migrate.outcomes import Result, Use

_STYLE = """\
table { width: 100%; }
td, summary { overflow-wrap: anywhere; vertical-align: top; }
td:nth-child(2) { overflow-wrap: normal; white-space: nowrap; }
.refused { color: #b00020; }
"""


def as_json(results: Sequence[Result], looked: int, options: argparse.Namespace) -> str:
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


def as_html(results: Sequence[Result], looked: int, options: argparse.Namespace) -> str:
    """One page without scripts: totals, what is left, the files that change with their diff."""
    title = "tpudist migrate, %s" % ("to " + options.to if options.to else "imports")
    parts = ["<p>%s</p>" % safe(console.totals(results, looked)), _left(results), "<h2>Files</h2>"]
    parts += [
        "<details><summary><code>%s</code>: %s</summary><pre>%s</pre></details>"
        % (safe(result.path), safe(console.counts(result.rewritten)), safe(console.diff(result)))
        for result in results
        if result.before != result.after
    ]
    return html_page.whole(title, parts, style=_STYLE)


def _left(results: Iterable[Result]) -> str:
    rows = [_finding(each) for each in findings.of(results)]
    rows += [
        "<tr class=refused><td><code>%s</code><td>refused<td colspan=2>%s"
        % (safe(result.path), safe(result.refused))
        for result in results
        if result.refused
    ]
    if not rows:
        return "<h2>Nothing left</h2>"
    head = "<tr><th>where<th>key<th>seen<th>what to type</tr>"
    return "<h2>Left</h2><table>%s%s</table>" % (head, "".join(rows))


def _finding(finding: Finding) -> str:
    use, (place, *others) = finding.uses[0], finding.places()
    more = ""
    if others:
        more = "<details><summary>and %d more</summary>%s</details>" % (
            len(others),
            "".join("<p><code>%s</code></p>" % safe(other) for other in others),
        )
    return "<tr><td><code>%s</code>%s<td>%s<td><code>%s</code> %s<td>%s" % (
        safe(place),
        more,
        safe(finding.key),
        safe(use.seen),
        safe(use.why),
        safe(use.instead),
    )


FORMS = {"html": as_html, "json": as_json}
