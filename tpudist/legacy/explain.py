"""Writes the report of ``tpudist run --explain`` as JSON, and as a page with a picture of a step.

The picture goes from the top to the bottom: a bar for each segment of the step, between two
places where the replicas meet, and a line of text for each of those.
"""

from __future__ import annotations

import json as json_format
import os
from typing import Any, Iterable

from tpudist import files
from tpudist.toolbox import html_page
from tpudist.toolbox.html_page import safe
from tpudist.virtual import explanations, step_parts
from tpudist.virtual.explanations import Explanation, Record

_TOGETHER, _PER_REPLICA, _MEETING = "#4878a8", "#e08a3c", "#7a6ca8"

_STYLE = """\
svg text { font: 13px system-ui, sans-serif; fill: #222; }
table { margin: 1rem 0; }
h3 { font-size: .95rem; }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; }
.file { font-family: monospace; }
"""

_LEGEND = "".join(
    '<span class="key" style="background: %s"></span>%s' % each
    for each in (
        (_TOGETHER, "done for all replicas at once"),
        (_PER_REPLICA, "done once per replica"),
        (_MEETING, "the replicas meet"),
    )
)

#: The picture's size, in pixels: its width, and the heights of a segment and of a meeting.
_WIDTH, _BAR, _GAP = 900, 26, 24

#: How many segments are drawn.
_MOST = 60


def write(recorded: Iterable[Explanation], json: str | None, html: str | None) -> None:
    """Writes the explanations of all traces to the files that are asked for."""
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
    """The whole HTML page on what :func:`as_dict` returned of each step function."""
    parts = ["<p>%s</p>" % _LEGEND] if steps else []
    parts += [part for step in steps for part in _step(step)]
    return html_page.whole(
        "tpudist run --explain",
        parts or ["<p>%s</p>" % safe(explanations.NOTHING_TRACED)],
        style=_STYLE,
    )


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
        '<h2 class="file">%s</h2>' % safe(step["name"]),
        "<p>%s</p>" % safe(cost),
        "<p>all once per replica: %s</p>" % safe(step["reason"]) if step["reason"] else "",
        _picture(step),
        _table(
            ("once per replica", "op", "", "why"),
            [
                (each["place"], each["op_type"], each["count"], each["reason"])
                for each in per_replica
            ],
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
    distinct = dict.fromkeys(rows)
    return html_page.table(head, distinct) if distinct else ""


def _list(head: str, lines: Iterable[str]) -> str:
    items = "".join("<li>%s</li>" % safe(each) for each in lines)
    return "<h3>%s</h3><ul>%s</ul>" % (safe(head), items) if items else ""


def _picture(step: dict[str, Any]) -> str:
    """Draws the segments of a step, one below the other, and the meetings between them."""
    segments, meetings = step["segments"], step["meetings"]
    if not segments:
        return ""
    drawn, top = [], 0
    largest = max(map(_ops, segments)) or 1
    for number, segment in enumerate(segments[:_MOST]):
        if _ops(segment):
            drawn.append(_bar(segment, largest, top))
            top += _BAR
        for meeting in meetings[number : number + 1]:
            drawn.append(_line(meeting, top))
            top += _GAP
    more = len(segments) - _MOST
    note = '<p class="small">and %d segments more</p>' % more if more > 0 else ""
    return '<svg viewBox="0 0 %d %d">%s</svg>%s' % (_WIDTH, top, "".join(drawn), note)


def _ops(segment: dict[str, Any]) -> int:
    return int(segment["batched"] + sum(each["count"] for each in segment["per_replica"]))


def _bar(segment: dict[str, Any], largest: int, top: int) -> str:
    """A bar as long as the segment has ops; what is done once per replica has another colour."""
    alone, scale = _ops(segment) - segment["batched"], _WIDTH / 2 / largest
    drawn = ""
    for start, count, colour in (
        (0, segment["batched"], _TOGETHER),
        (segment["batched"], alone, _PER_REPLICA),
    ):
        drawn += '<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
            *(start * scale, top, count * scale),
            *(_BAR, colour),
        )
    count = _ops(segment)
    said = "1 op" if count == 1 else "%d ops" % count
    said += ", %d of them once per replica" % alone if alone and alone < count else ""
    place = count * scale + 8
    return drawn + '<text x="%.1f" y="%d">%s</text>' % (place, top + _BAR - 8, safe(said))


def _line(meeting: dict[str, Any], top: int) -> str:
    said = step_parts.Meeting(
        os.path.basename(meeting["place"]),
        {each["kind"]: (each["tensors"], each["bytes"]) for each in meeting["collectives"]},
        tuple(meeting["updated"]),
    )
    middle = top + _GAP // 2
    return '<circle cx="12" cy="%d" r="6" fill="%s"/><text x="26" y="%d">%s</text>' % (
        *(middle, _MEETING),
        *(middle + 5, safe(said)),
    )
