"""Reduces the worker's answer to plain data of a few kilobytes, which the cache stores.

Also reads its message about a program that does not fit. If the compiler fails before it
optimizes, the message has the total alone; if it fails later, it lists the live arrays too.
"""

from __future__ import annotations

import base64
import math
import re
from typing import Any, Mapping, NamedTuple, Sequence

from tpudist.tools.compile.compiler import libtpu
from tpudist.tools.compile.hlo import liveness, optimized, trip_counts

#: The most points of memory over the program, and live arrays at its peak, that are stored.
_MAX_POINTS, _MAX_ARRAYS = 400, 200

#: The keys of the worker's answer that are stored unchanged.
_KEYS = (
    *("ok", "code", "message", "kind", "pjrt"),
    *("memory", "seconds", "cpu_seconds", "peak_bytes"),
)


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_NUMBER = r"([\d.]+)([KMGT]?)"

#: How libtpu says by how much a program exceeds the memory: before it optimizes, and later.
_EARLY = re.compile(r"\(%s\) exceeds available HBM \(%s\)" % (_NUMBER, _NUMBER))
_LATE = re.compile(r"Exceeded hbm capacity by %s" % _NUMBER)

_ARRAY = re.compile(
    r'^ *\d+\. Size: %s\n(?: *Operator: op_name="([^"]*)".*\n)? *Shape: ([^{\s]+)' % _NUMBER, re.M
)


def digest(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the worker's answer with what is read off the program, in place of the program.

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
    """Whether the compiler would answer the same request alike again, so that it can be stored."""
    return answer["ok"] or answer["code"] not in (libtpu.CRASHED, libtpu.TIMED_OUT, "NOT_FOUND")


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


class Allocation(NamedTuple):
    """A live array: bytes, op's name ("" if unknown), shape as the compiler writes it."""

    bytes: int
    op_name: str
    shape: str


def missing_bytes(message: str) -> int | None:
    """Returns by how many bytes a program exceeds the memory, None if the message does not say."""
    late, early = _LATE.search(message), _EARLY.search(message)
    if late:
        return _bytes(*late.groups())
    return _bytes(*early.groups()[:2]) - _bytes(*early.groups()[2:]) if early else None


def lacks_arrays(answer: dict[str, Any]) -> bool:
    """Whether a program does not fit, and the message does not list its arrays."""
    message = answer["message"] or ""
    return bool(not answer["ok"] and _EARLY.search(message)) and not allocations(message)


def allocations(message: str) -> list[Allocation]:
    """Returns the largest live arrays that a message lists; none if it has the total alone."""
    return [
        Allocation(_bytes(number, unit), name, shape)
        for number, unit, name, shape in _ARRAY.findall(message)
    ]


def _bytes(number: str, unit: str) -> int:
    return int(float(number) * _UNITS[unit])
