"""Reduces the worker's answer to plain data of a few kilobytes, which the cache stores."""

from __future__ import annotations

import base64
import math
from typing import Any, Mapping, Sequence

from tpudist.tools.compile.compiler import process
from tpudist.tools.compile.hlo import liveness, optimized, trip_counts

#: The most points of memory over the program, and live arrays at its peak, that are stored.
_MAX_POINTS, _MAX_ARRAYS = 400, 200

#: The keys of the worker's answer that are stored unchanged.
_KEYS = (
    *("ok", "code", "message", "kind", "pjrt"),
    *("memory", "seconds", "cpu_seconds", "peak_bytes"),
)


def digest(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the worker's answer with what is read off the program, in place of the program.

    Args:
      answer: a dict, see ``tpudist.tools.compile.compiler.worker.__main__``.

    Returns:
      A dict of JSON types: "ok", "code" and "message" of a failure; "kind",
      "hbm", "pjrt"; "memory", "flops", "bytes_accessed" (of each instruction
      once), "parameters" (number as text: see ``optimized.DeviceParameter``),
      "collectives", "loops" (see ``optimized.Loop``), "again" (FLOPs and bytes of
      the trips of loops after the first), "costs" (see ``optimized.Cost``, those
      with the most cycles first), "held" and "alive" (the bytes and the peak of
      ``liveness.Usage``); "seconds", "cpu_seconds", "peak_bytes".
    """
    digested = {key: answer.get(key) for key in _KEYS}
    digested["hbm"] = answer.get("attributes", {}).get("device_memory_bytes_limit")
    if answer["ok"]:
        digested.update(_properties(optimized.module(base64.b64decode(answer["optimized"]))))
        digested.update(_cost(answer["cost"]))
    return digested


def is_reproducible(answer: Mapping[str, Any]) -> bool:
    """Whether the same request would get the same answer again.

    Args:
      answer: what :func:`digest` returned.
    """
    return answer["ok"] or answer["code"] not in (process.CRASHED, process.TIMED_OUT, "NOT_FOUND")


def _properties(module: Any) -> dict[str, Any]:
    """Returns what is read off an optimized `messages.Module`."""
    program = trip_counts.Program(module)
    costs = optimized.Costs(program)
    usage = liveness.usage(module)
    return {
        "parameters": {
            str(number): list(parameter)
            for number, parameter in optimized.parameters(module).items()
        },
        "collectives": [
            [kind] + list(total) for kind, total in optimized.collectives(program).items()
        ],
        "loops": [list(each) for each in optimized.loops(program)],
        "again": [whole - once for once, whole in zip(costs.once, costs.whole)],
        "costs": [list(each) for each in costs.rows],
        "held": _thinned(usage.bytes),
        "alive": [list(each) for each in usage.peak[:_MAX_ARRAYS]],
    }


def _thinned(sizes: Sequence[int]) -> list[int]:
    """Returns at most `_MAX_POINTS` numbers, each the largest of its part."""
    step = -(-len(sizes) // _MAX_POINTS) or 1
    return [max(sizes[start : start + step]) for start in range(0, len(sizes), step)]


def _cost(cost: Mapping[str, float]) -> dict[str, float | None]:
    """Returns the numbers that are known and finite; JSON has no others."""
    return {
        name: cost[key] if math.isfinite(cost.get(key, math.nan)) else None
        for name, key in (("flops", "flops"), ("bytes_accessed", "bytes accessed"))
    }
