"""Builds the report from the program and the worker's answer."""

from __future__ import annotations

import base64
import math
import re
from typing import TYPE_CHECKING, Any, Mapping

import tpudist
from tpudist.surfaces.slices import Slice
from tpudist.tools.compile import report
from tpudist.tools.compile.compiler import libtpu
from tpudist.tools.compile.compiler.libtpu import Libtpu
from tpudist.tools.compile.hlo import messages, optimized
from tpudist.tools.compile.report import Program

if TYPE_CHECKING:
    Answer = Mapping[str, Any]

#: How many of the largest arrays before optimization are reported.
_LARGEST = 10

#: Parts of an op's name that are not of the program.
_NO_SCOPE = re.compile(r"^(gradient_tape|update(_\d+)*)$")

#: What to do about each kind of failure.
_INSTEAD = {
    "out-of-memory": "a smaller batch a replica, bfloat16 activations, "
    "tf.recompute_grad around layers (it computes them again instead of keeping "
    "them), or a split over logical devices",
    "refused": "see the compiler's message: most often an op or a dtype that TPUs do not have",
    "crash": "another release of libtpu (TPUDIST_LIBTPU), or another way to write the op",
    "timeout": "--fast, or a longer --timeout",
}


def build(
    program: Program, topology: Slice, fast: bool, compiler: Libtpu, answer: Answer
) -> report.Report:
    """Returns the report of a compilation, from the worker's answer."""
    ok = answer["ok"]
    compiled = optimized.module(base64.b64decode(answer["optimized"])) if ok else None
    collectives = optimized.collectives(compiled) if compiled else {}
    return report.Report(
        ok=ok,
        failure=None if compiled else _failure(program, answer),
        target=report.Target(
            topology.name,
            answer.get("kind") or "",
            topology.devices,
            program.replicas,
            program.partitions,
            topology.about.hbm,
            not fast,
        ),
        memory=report.Memory(*map(answer["memory"].get, report.Memory._fields)) if ok else None,
        arguments=_arguments(program, compiled),
        cost=_cost(program, compiled, answer["cost"]) if compiled else None,
        requested=_requested(program),
        optimized=tuple(report.Collectives(kind, *of, ()) for kind, of in collectives.items()),
        hottest=_hottest(program, compiled) if compiled else (),
        warnings=_warnings(program, topology),
        versions=report.Versions(
            tpudist.__version__,
            program.tensorflow,
            compiler.version or "unnamed",
            answer.get("pjrt") or "",
        ),
        effort=report.Effort(answer.get("seconds") or 0.0, answer.get("peak_bytes") or 0),
    )


def _failure(program: Program, answer: Answer) -> report.Failure:
    message = answer["message"]
    kind = {libtpu.CRASHED: "crash", libtpu.TIMED_OUT: "timeout"}.get(answer["code"], "refused")
    largest: list[tuple[int, str, str]] = []
    if answer["code"] == "RESOURCE_EXHAUSTED" and "vmem" not in message:
        kind = "out-of-memory"
        largest = optimized.largest_arrays(messages.Module.FromString(program.hlo), _LARGEST)
    buffers = [
        report.Buffer(size, shape, _short(name), program.locations.get(name, ""))
        for size, name, shape in largest
    ]
    return report.Failure(kind, message, _INSTEAD[kind], tuple(buffers))


def _arguments(
    program: Program, compiled: messages.HloModule | None
) -> tuple[report.Argument, ...]:
    """Returns the parameters with what they take on a device, the largest first."""
    on_device = optimized.parameters(compiled) if compiled else {}
    arguments = []
    for number, each in enumerate(program.parameters):
        shape = on_device.get(number, each.shape)
        size = messages.array_bytes(each.dtype, shape)
        arguments.append(each._replace(device_shape=shape, bytes=size))
    return tuple(sorted(arguments, key=lambda argument: -argument.bytes))


def _cost(program: Program, compiled: messages.HloModule, cost: Mapping[str, float]) -> report.Cost:
    flops, accessed = (
        cost[name] if math.isfinite(cost.get(name, math.nan)) else None  # JSON has no others
        for name in ("flops", "bytes accessed")
    )
    loops = (program.locations.get(name) or _short(name) for name in optimized.loops(compiled))
    return report.Cost(flops, accessed, tuple(loops))


def _requested(program: Program) -> tuple[report.Collectives, ...]:
    """Returns the collectives that the program asks for, by their kinds."""
    kinds: dict[str, list[report.Collective]] = {}
    for each in program.collectives:
        kinds.setdefault(each.kind, []).append(each)
    return tuple(
        report.Collectives(
            kind,
            len(requests),
            sum(messages.array_bytes(each.dtype, each.shape) for each in requests),
            tuple(dict.fromkeys(each.location for each in requests if each.location)),
        )
        for kind, requests in kinds.items()
    )


def _hottest(program: Program, compiled: messages.HloModule) -> tuple[report.Hot, ...]:
    """Returns the compiler's estimate of each instruction, at the first of its ops with a line."""
    costs = optimized.costs(compiled)
    whole = sum(cycles for cycles, *_ in costs) or 1
    hottest = []
    for cycles, instruction, op_names in costs:
        known = [name for name in op_names if name in program.locations] or op_names
        line, name = program.locations.get(known[0], ""), _short(known[0])
        hot = report.Hot(line, instruction, name, cycles, cycles / whole, _layer(name))
        hottest.append(hot)
    return tuple(hottest)


def _short(name: str) -> str:
    """Returns an op's name without the function calls around it, which the user did not write."""
    return name.rpartition("PartitionedCall/")[2]


def _layer(name: str) -> str:
    """Returns the name scope of an op; of a gradient or an update that of its layer."""
    parts = [each for each in name.split("/")[:-1] if not _NO_SCOPE.match(each)]
    while parts and parts[-1][:1].isupper() and len(parts) > 1:
        parts.pop()
    return "/".join(parts)


def _warnings(program: Program, topology: Slice) -> tuple[str, ...]:
    warnings = []
    used = program.replicas * program.partitions
    if used < topology.devices:
        warnings.append(
            "%d of the %d devices of %s are used" % (used, topology.devices, topology.name)
        )
    if topology.devices < topology.cores:
        warnings.append(
            "a chip's two TensorCores are compiled as one device (megacore): one replica a chip"
        )
    return tuple(warnings)
