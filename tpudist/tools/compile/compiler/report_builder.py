"""Builds the report from the program and the compiler's answer."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any, Mapping

import tpudist
from tpudist.surfaces.slices import Slice
from tpudist.tools.compile import report
from tpudist.tools.compile.compiler import answers, libtpu
from tpudist.tools.compile.compiler.libtpu import Libtpu
from tpudist.tools.compile.hlo import liveness, messages, optimized
from tpudist.tools.compile.program import Collective, Program

if TYPE_CHECKING:
    Answer = Mapping[str, Any]

#: How many of the largest arrays are reported.
_LARGEST = 10

#: What to do about each kind of failure.
_INSTEAD = {
    "out-of-memory": "a smaller batch a replica (--fit finds the largest that fits), bfloat16 "
    "activations, tf.recompute_grad around layers (it computes them again instead of keeping "
    "them), or a split over logical devices",
    "refused": "see the compiler's message: most often an op or a dtype that TPUs do not have",
    "crash": "another release of libtpu (TPUDIST_LIBTPU), or another way to write the op",
    "timeout": "--fast, or a longer --timeout",
}


def build(
    program: Program, topology: Slice, fast: bool, compiler: Libtpu, answer: Answer, cached: bool
) -> report.Report:
    """Returns the report of a compilation.

    Args:
      fast: whether it was optimized little.
      answer: what ``answers.digest`` returned.
      cached: whether the answer was read from the cache.
    """
    return report.Report(
        ok=answer["ok"],
        failure=None if answer["ok"] else _failure(program, answer),
        target=_target(program, topology, fast, answer),
        memory=_memory(answer),
        arguments=_arguments(program, answer),
        held=tuple(answer.get("held", ())),
        alive=_live_arrays(program, answer),
        cost=_cost(program, answer),
        requested=_requested(program),
        optimized=tuple(
            report.Collectives(kind, count, size, ())
            for kind, count, size in answer.get("collectives", ())
        ),
        splits=tuple(report.Split(*each[1:]) for each in program.shardings),
        hottest=_hottest(program, topology, answer),
        warnings=_warnings(program, topology, answer),
        versions=report.Versions(
            tpudist.__version__,
            program.tensorflow,
            compiler.version or "unnamed",
            answer["pjrt"] or "",
        ),
        effort=report.Effort(
            answer["seconds"] or 0.0,
            answer["cpu_seconds"] or 0.0,
            answer["peak_bytes"] or 0,
            cached,
        ),
    )


def _target(program: Program, topology: Slice, fast: bool, answer: Answer) -> report.Target:
    hbm = topology.about.hbm
    hbm = min(hbm, answer["hbm"] or hbm)
    return report.Target(
        topology.name,
        answer["kind"] or "",
        topology.devices,
        program.replicas,
        program.partitions,
        hbm,
        not fast,
    )


def _failure(program: Program, answer: Answer) -> report.Failure:
    kind = {libtpu.CRASHED: "crash", libtpu.TIMED_OUT: "timeout"}.get(answer["code"], "refused")
    if answer["code"] == "RESOURCE_EXHAUSTED" and "vmem" not in answer["message"]:
        kind = "out-of-memory"
    largest, missing = [], None
    if kind == "out-of-memory":
        largest = optimized.largest_arrays(messages.Module.FromString(program.hlo), _LARGEST)
        missing = answers.missing_bytes(answer["message"])
    return report.Failure(
        kind,
        answer["message"],
        _INSTEAD[kind],
        tuple(_buffer(program, size, shape, name) for size, name, shape in largest),
        missing,
    )


def _buffer(program: Program, size: int, shape: str, op_name: str) -> report.Buffer:
    return report.Buffer(size, shape, _short(op_name), program.locations.get(op_name, ""))


def _memory(answer: Answer) -> report.Memory | None:
    if not answer["ok"]:
        return None
    return report.Memory(*[answer["memory"][field] for field in report.Memory._fields])


def _arguments(program: Program, answer: Answer) -> tuple[report.Argument, ...]:
    """Returns the arguments, the largest first.

    Those of a program that does not compile have the shapes of their annotations, and no
    padding.
    """
    compiled = {
        int(number): optimized.DeviceParameter(*each)
        for number, each in answer.get("parameters", {}).items()
    }
    split = {
        each.parameter: tuple(each.per_device_shape)
        for each in program.shardings
        if each.parameter is not None
    }
    arguments = []
    for number, parameter in enumerate(program.parameters):
        shape = split.get(number, tuple(parameter.shape))
        size = messages.array_bytes(parameter.dtype, shape)
        on_device = compiled.get(
            number, optimized.DeviceParameter(parameter.dtype, shape, size, size)
        )
        arguments.append(
            report.Argument(
                parameter.name,
                parameter.kind,
                parameter.dtype,
                tuple(parameter.shape),
                tuple(on_device.shape),
                on_device.bytes,
                on_device.unpadded,
                parameter.location,
            )
        )
    return tuple(sorted(arguments, key=lambda argument: -argument.bytes))


def _live_arrays(program: Program, answer: Answer) -> tuple[report.Buffer, ...]:
    """Returns the live arrays at the peak; an argument has its own name and line.

    Those of a program that does not fit are first the ones in the compiler's message.
    """
    buffers = [
        _buffer(program, each.bytes, each.shape, each.op_name)
        for each in answers.allocations(answer["message"] or "")
    ]
    for array in (liveness.LiveArray(*each) for each in answer.get("alive", ())):
        if array.parameter is not None:
            parameter = program.parameters[array.parameter]
            buffers.append(
                report.Buffer(array.bytes, array.shape, parameter.name, parameter.location)
            )
        else:
            buffers.append(_buffer(program, array.bytes, array.shape, array.op_name))
    return tuple(buffers)


def _cost(program: Program, answer: Answer) -> report.Cost | None:
    if not answer["ok"]:
        return None
    flops, accessed = answer["flops"], answer["bytes_accessed"]
    more_flops, more_bytes = answer["again"]
    return report.Cost(
        None if flops is None else flops + more_flops,
        None if accessed is None else accessed + more_bytes,
        tuple(
            report.Loop(program.locations.get(name, ""), _short(name), trips, times)
            for name, trips, times in answer["loops"]
        ),
    )


def _requested(program: Program) -> tuple[report.Collectives, ...]:
    kinds: dict[str, list[Collective]] = collections.OrderedDict()
    for each in program.collectives:
        kinds.setdefault(each.kind, []).append(each)
    return tuple(
        report.Collectives(
            kind,
            len(requests),
            sum(messages.array_bytes(each.dtype, tuple(each.shape)) for each in requests),
            tuple(
                collections.OrderedDict.fromkeys(
                    each.location for each in requests if each.location
                )
            ),
        )
        for kind, requests in kinds.items()
    )


def _hottest(program: Program, topology: Slice, answer: Answer) -> tuple[report.Hot, ...]:
    """Returns the cost of each op of each instruction."""
    costs = [optimized.Cost(*each) for each in answer.get("costs", ())]
    whole = sum(each.cycles for each in costs) or 1
    return tuple(
        report.Hot(
            program.locations.get(each.op_name, ""),
            _layer(_short(each.op_name)),
            each.instruction,
            _short(each.op_name),
            each.cycles,
            each.cycles / whole,
            each.times,
            each.flops,
            each.bytes,
            roofline_bound(each.flops, each.bytes, each.sent, topology.generation),
        )
        for each in costs
    )


def _layer(name: str) -> str:
    """Returns the name scopes around an op; a gradient has those of its forward op."""
    parts = name.split("/")
    if parts[0] == "gradient_tape":
        return "/".join(parts[1:-2])
    return "/".join(parts[:-1])


def _short(name: str) -> str:
    """Returns an op's name without the function calls around it, which the user did not write."""
    return name.rpartition("PartitionedCall/")[2]


def _warnings(program: Program, topology: Slice, answer: Answer) -> tuple[str, ...]:
    warnings = list(program.warnings)
    used = program.replicas * program.partitions
    if used < topology.devices:
        warnings.append(
            "%d of the %d devices of %s are used" % (used, topology.devices, topology.name)
        )
    if topology.devices < topology.cores:
        warnings.append(
            "a chip's two TensorCores are compiled as one device (megacore): one replica a chip"
        )
    for name, trips, _ in answer.get("loops", ()):
        if trips is None:
            warnings.append(
                "%s: it is not known how often this loop runs: its FLOPs, bytes and collectives "
                "count one round" % (program.locations.get(name) or _short(name))
            )
    if answer.get("room"):
        warnings.append(
            "the arrays at the peak are those of the program compiled for %s, which has enough "
            "memory, with little optimization: for %s the compiler reports only the total"
            % (answer["room"], topology.name)
        )
    if any(each.description.startswith("assign") for each in program.shardings):
        warnings.append(
            "assigning to a logical device saves no memory and no time: every device "
            "computes it, and the others' results are masked"
        )
    return tuple(warnings)


#: Peak FLOP/s (bfloat16) and bytes/s of HBM of one device: cloud.google.com/tpu/docs/v2,
#: v3, v4, v5e, v5p, v6e, tpu7x, "System architecture"; of v2, v3 and tpu7x half a chip's.
PEAKS = {
    "v2": (23e12, 350e9),
    "v3": (61.5e12, 450e9),
    "v4": (275e12, 1200e9),
    "v5e": (197e12, 819e9),
    "v5p": (459e12, 2765e9),
    "v6e": (918e12, 1640e9),
    "tpu7x": (1153e12, 3690e9),
}


def roofline_bound(flops: float, moved: float, sent: float, generation: str) -> str:
    """Returns what bounds an op in the roofline model of a chip of a generation.

    No time is derived from it: ``optimal_seconds`` of the compiler leaves out
    instructions and trips of loops, and a sum of rooflines was not compared with step
    times of real slices.

    Args:
      flops: of the op.
      moved: bytes to and from the device's memory.
      sent: bytes that it puts into collectives.

    Returns:
      "compute", "memory" or "network"; "" for an op without any of these.
    """
    if sent:
        return "network"
    peak_flops, bandwidth = PEAKS[generation]
    computing, moving = flops / peak_flops, moved / bandwidth
    if not computing and not moving:
        return ""
    return "compute" if computing >= moving else "memory"
