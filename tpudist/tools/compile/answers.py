"""What of the worker's answer is kept: plain data, a few kilobytes."""

import base64
import math

from tpudist.tools.compile import process
from tpudist.tools.compile.hlo import liveness, optimized, trip_counts

#: How many points of memory over the program, and arrays at its peak, are kept.
_POINTS, _ALIVE = 400, 200


def digest(answer):
    """The worker's answer without the program, and with what is read off it.

    Args:
      answer: a dict, see ``tpudist.tools.compile.worker.__main__``.

    Returns:
      A dict of JSON types: "ok", "code" and "message" of a failure; "kind",
      "hbm", "pjrt"; "memory", "flops", "bytes_accessed" (of each instruction
      once), "parameters" (number as text: see ``optimized.Placed``),
      "collectives", "loops" (see ``optimized.Loop``), "again" (FLOPs and bytes of
      all further rounds of loops), "costs" (see ``optimized.Cost``, dearest
      first), "held" and "alive" (see ``liveness.Course``); "seconds", "cpu_seconds", "peak_bytes".
    """
    kept = {
        key: answer.get(key)
        for key in (
            "ok",
            "code",
            "message",
            "kind",
            "pjrt",
            "memory",
            "seconds",
            "cpu_seconds",
            "peak_bytes",
        )
    }
    kept["hbm"] = answer.get("attributes", {}).get("device_memory_bytes_limit")
    if answer["ok"]:
        kept.update(_read(optimized.module(base64.b64decode(answer["optimized"]))))
        kept.update(_cost(answer["cost"]))
    return kept


def lasting(kept):
    """Whether the same request would be answered the same again.

    Args:
      kept: what :func:`digest` returned.
    """
    return kept["ok"] or kept["code"] not in (process.CRASHED, process.TIMED_OUT, "NOT_FOUND")


def _read(module):
    program = trip_counts.Program(module)
    costs = optimized.Costs(program)
    course = liveness.course(module) or liveness.Course([], [])
    return {
        "parameters": {
            str(number): list(placed) for number, placed in optimized.parameters(module).items()
        },
        "collectives": [
            [kind] + list(found) for kind, found in optimized.collectives(program).items()
        ],
        "loops": [list(each) for each in optimized.loops(program)],
        "again": [whole - once for once, whole in zip(costs.once, costs.whole)],
        "costs": [list(each) for each in costs.rows],
        "held": _thinned(course.bytes),
        "alive": [list(each) for each in course.alive[:_ALIVE]],
    }


def _thinned(held):
    """At most `_POINTS` numbers, each the largest of its part."""
    size = -(-len(held) // _POINTS) or 1
    return [max(held[start : start + size]) for start in range(0, len(held), size)]


def _cost(cost):
    """Numbers that are known and finite; JSON has no others."""
    return {
        name: cost[key] if math.isfinite(cost.get(key, math.nan)) else None
        for name, key in (("flops", "flops"), ("bytes_accessed", "bytes accessed"))
    }
