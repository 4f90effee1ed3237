"""Writes what ``tpudist run --explain`` tells as JSON, and as a page.

A step's first table goes from the top to the bottom: a row for each segment of the step, and one
for each place between two segments, where the replicas meet.
"""

from __future__ import annotations

import json as json_format
import os
from typing import Any, Iterable, Iterator

from tpudist import files
from tpudist.tools import html_page
from tpudist.tools.html_page import safe
from tpudist.virtual import explanations, step_parts
from tpudist.virtual.explanations import Explanation, Record


def write(recorded: Iterable[Explanation], json: str | None, html: str | None) -> None:
    """Writes the files that are asked for.

    Args:
      recorded: the explanations of all traces.
      json, html: paths, or None.
    """
    steps = [as_dict(each) for each in explanations.each_once(recorded)]
    if json:
        files.write(json, json_format.dumps(steps, indent=1) + "\n")
    if html:
        files.write(html, page(steps))


def as_dict(one: Explanation) -> dict[str, Any]:
    """An explanation as what JSON can hold; bytes are those of one replica."""
    return {
        "name": one.name,
        "replicas": one.count,
        "share": one.share,
        "reason": one.reason,
        "ops": {"traced": one.traced, "built": one.built or one.traced * one.count},
        "seconds": one.seconds,
        "segments": list(map(_segment, one.segments)) if one.reason is None else [],
        "meetings": [
            {
                "place": each.place,
                "collectives": [
                    {"kind": kind, "tensors": tensors, "bytes": size}
                    for kind, (tensors, size) in each.collectives.items()
                ],
                "updated": list(each.updated),
            }
            for each in one.meetings
        ],
        "memory": one.memory and one.memory._asdict(),
        "refused": [cause._asdict() for cause in one.refused],
        "hints": [line.strip() for line in one.hints()],
        "next": one.next_steps(),
    }


def _segment(record: Record) -> dict[str, Any]:
    per_replica = [
        dict(ops._asdict(), count=count) for ops, count in sorted(record.per_replica.items())
    ]
    return {"batched": record.batched, "per_replica": per_replica}


def page(steps: list[dict[str, Any]]) -> str:
    """The whole HTML page.

    Args:
      steps: what :func:`as_dict` returned of each step function.
    """
    parts = [part for step in steps for part in _step(step)]
    nothing = "<p>%s</p>" % safe(explanations.NOTHING_TRACED)
    return html_page.whole("tpudist run --explain", parts or [nothing])


def _step(step: dict[str, Any]) -> list[str]:
    """The parts of the page that are about one step function."""
    cost = "%.0f %% of its ops batched for %d replicas; %d ops traced, %d built, in %.1f s" % (
        100 * step["share"],
        step["replicas"],
        step["ops"]["traced"],
        step["ops"]["built"],
        step["seconds"],
    )
    per_replica = [each for segment in step["segments"] for each in segment["per_replica"]]
    return [
        "<h2><code>%s</code></h2>" % safe(step["name"]),
        "<p>%s</p>" % safe(cost),
        "<p>all once per replica: %s</p>" % safe(step["reason"]) if step["reason"] else "",
        _table(("part", "ops", "of them once per replica"), _parts(step)),
        _table(
            ("once per replica", "op", "", "why"),
            dict.fromkeys(
                (each["place"], each["op_type"], each["count"], each["reason"])
                for each in per_replica
            ),
        ),
        _table(
            ("a TPU refuses", "op", "why", "instead"),
            [
                (each["place"], ", ".join(each["op_types"]), each["why"], each["instead"])
                for each in step["refused"]
            ],
        ),
        _list("On a TPU", step["hints"]),
        _list("Next", step["next"]),
    ]


def _table(head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = ["<tr>%s</tr>" % "".join("<td>%s</td>" % safe(cell) for cell in row) for row in rows]
    titles = "".join("<th>%s</th>" % safe(each) for each in head)
    return "<table>\n<tr>%s</tr>\n%s\n</table>" % (titles, "\n".join(lines)) if lines else ""


def _list(head: str, lines: Iterable[str]) -> str:
    items = "".join("<li>%s</li>" % safe(each) for each in lines)
    return "<h3>%s</h3><ul>%s</ul>" % (safe(head), items) if items else ""


def _parts(step: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Rows on the segments of a step, and on the meetings between them."""
    for number, segment in enumerate(step["segments"]):
        alone = sum(each["count"] for each in segment["per_replica"])
        if segment["batched"] or alone:
            yield "segment", segment["batched"] + alone, alone or ""
        for meeting in step["meetings"][number : number + 1]:
            said = step_parts.Meeting(
                os.path.basename(meeting["place"]),
                {each["kind"]: (each["tensors"], each["bytes"]) for each in meeting["collectives"]},
                tuple(meeting["updated"]),
            )
            yield "meeting: " + str(said), "", ""
