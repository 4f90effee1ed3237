"""Writes the report of ``tpudist run --explain`` as JSON."""

from __future__ import annotations

import json
from typing import Any, Iterable

from tpudist import files
from tpudist.virtual import explanations
from tpudist.virtual.explanations import Explanation, Record


def write(path: str, recorded: Iterable[Explanation]) -> None:
    """Writes the explanations of all traces to a file."""
    steps = [as_dict(each) for each in explanations.each_once(recorded)]
    files.write(path, json.dumps(steps, indent=1) + "\n")


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
        "next": one.next_steps(),
    }


def _segment(record: Record) -> dict[str, Any]:
    per_replica = [
        dict(ops._asdict(), count=count) for ops, count in sorted(record.per_replica.items())
    ]
    return {"batched": record.batched, "per_replica": per_replica}
