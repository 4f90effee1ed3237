"""What of the worker's answer is kept: plain data, a few kilobytes."""

import base64
import collections
import math

from tpudist.compile import process
from tpudist.hlo import optimized

#: How many ops are kept of those that cost something.
_OPS = 200


def digest(answer):
    """The worker's answer without the program, and with what is read off it.

    Args:
      answer: a dict, see ``tpudist.compile.worker.__main__``.

    Returns:
      A dict of JSON types: "ok", "code" and "message" of a failure; "kind",
      "hbm", "pjrt"; "memory", "flops", "bytes_accessed", "optimal_seconds",
      "parameters" (number as text: see ``optimized.Placed``), "collectives",
      "loops", "cycles" (of all), "costs" ([cycles, op_name, count], dearest
      first); "seconds", "cpu_seconds", "peak_bytes".
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
    costs = optimized.costs(module)
    by_op = collections.OrderedDict()
    for cost in costs:
        cycles, count = by_op.get(cost.op_name, (0, 0))
        by_op[cost.op_name] = cycles + cost.cycles, count + 1
    ranked = sorted(by_op.items(), key=lambda item: -item[1][0])
    return {
        "parameters": {
            str(number): list(placed) for number, placed in optimized.parameters(module).items()
        },
        "collectives": [
            [kind] + list(found) for kind, found in optimized.collectives(module).items()
        ],
        "loops": optimized.loops(module),
        "cycles": sum(cost.cycles for cost in costs),
        "costs": [[cycles, name, count] for name, (cycles, count) in ranked[:_OPS]],
    }


def _cost(cost):
    """Numbers that are known and finite; JSON has no others."""
    return {
        name: cost[key] if math.isfinite(cost.get(key, math.nan)) else None
        for name, key in (
            ("flops", "flops"),
            ("bytes_accessed", "bytes accessed"),
            ("optimal_seconds", "optimal_seconds"),
        )
    }
