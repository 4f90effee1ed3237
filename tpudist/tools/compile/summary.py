"""Puts a report together: from the program and what the compiler said of it."""

import collections

import tpudist
from tpudist.tools.compile import process, report, roofline, want_of_memory
from tpudist.tools.compile.hlo import liveness, messages, optimized, shapes

#: How many buffers are reported as the largest.
_LARGEST = 10

_INSTEAD = {
    "out-of-memory": "a smaller batch a replica (--fit finds the largest that fits), bfloat16 "
    "activations, tf.recompute_grad around layers (it computes them again instead of keeping "
    "them), or a split over logical devices",
    "refused": "see the compiler's message: most often an op or a dtype that TPUs do not have",
    "crash": "another release of libtpu (TPUDIST_LIBTPU), or another way to write the op",
    "timeout": "--fast, or a longer --timeout",
}


def make(program, topology, fast, compiler, kept, cached):
    """The `report.Report` of a compilation.

    Args:
      program: a `program.Program`.
      topology: a `slices.Slice`.
      fast: whether it was optimized little.
      compiler: a `libtpu.Libtpu`.
      kept: what ``answers.digest`` returned.
      cached: whether it was kept from before.
    """
    return report.Report(
        ok=kept["ok"],
        failure=None if kept["ok"] else _failure(program, kept),
        target=_target(program, topology, fast, kept),
        memory=_memory(kept),
        arguments=_arguments(program, kept),
        held=tuple(kept.get("held", ())),
        alive=_alive(program, kept),
        cost=_cost(program, kept),
        requested=_requested(program),
        optimized=tuple(
            report.Collectives(kind, count, size, ())
            for kind, count, size in kept.get("collectives", ())
        ),
        splits=tuple(report.Split(*each[1:]) for each in program.shardings),
        hottest=_hottest(program, topology, kept),
        warnings=_warnings(program, topology, kept),
        versions=report.Versions(
            tpudist.__version__,
            program.tensorflow,
            compiler.version or "unnamed",
            kept["pjrt"] or "",
        ),
        effort=report.Effort(
            kept["seconds"] or 0.0, kept["cpu_seconds"] or 0.0, kept["peak_bytes"] or 0, cached
        ),
    )


def _target(program, topology, fast, kept):
    hbm = topology.about.hbm
    hbm = min(hbm, kept["hbm"] or hbm)
    return report.Target(
        topology.name,
        kept["kind"] or "",
        topology.devices,
        program.replicas,
        program.partitions,
        hbm,
        not fast,
    )


def _failure(program, kept):
    kind = {process.CRASHED: "crash", process.TIMED_OUT: "timeout"}.get(kept["code"], "refused")
    if kept["code"] == "RESOURCE_EXHAUSTED" and "vmem" not in kept["message"]:
        kind = "out-of-memory"
    largest = ()
    if kind == "out-of-memory":
        largest = optimized.largest(messages.Module.FromString(program.hlo), _LARGEST)
    return report.Failure(
        kind,
        kept["message"],
        _INSTEAD[kind],
        tuple(
            report.Buffer(size, shape, _short(name), program.locations.get(name, ""))
            for size, name, shape in largest
        ),
        want_of_memory.missing(kept["message"]) if kind == "out-of-memory" else None,
    )


def _memory(kept):
    if not kept["ok"]:
        return None
    return report.Memory(*[kept["memory"][field] for field in report.Memory._fields])


def _arguments(program, kept):
    """Largest first; of a program that does not compile, as annotated and unpadded."""
    placed = {
        int(number): optimized.Placed(*each) for number, each in kept.get("parameters", {}).items()
    }
    split = {
        each.parameter: tuple(each.per_device_shape)
        for each in program.shardings
        if each.parameter is not None
    }
    made = []
    for number, given in enumerate(program.parameters):
        shape = split.get(number, tuple(given.shape))
        size = shapes.array_bytes(given.dtype, shape)
        found = placed.get(number, optimized.Placed(given.dtype, shape, size, size))
        made.append(
            report.Argument(
                given.name,
                given.kind,
                given.dtype,
                tuple(given.shape),
                tuple(found.shape),
                found.bytes,
                found.unpadded,
                given.location,
            )
        )
    return tuple(sorted(made, key=lambda argument: -argument.bytes))


def _alive(program, kept):
    """The arrays at the peak: of an argument its own name and line.

    Of a program that does not fit, those that the compiler names.
    """
    made = [
        report.Buffer(
            each.bytes, each.shape, _short(each.op_name), program.locations.get(each.op_name, "")
        )
        for each in want_of_memory.allocations(kept["message"] or "")
    ]
    for found in (liveness.Held(*each) for each in kept.get("alive", ())):
        if found.parameter is not None:
            given = program.parameters[found.parameter]
            made.append(report.Buffer(found.bytes, found.shape, given.name, given.location))
        else:
            place = program.locations.get(found.op_name, "")
            made.append(report.Buffer(found.bytes, found.shape, _short(found.op_name), place))
    return tuple(made)


def _cost(program, kept):
    if not kept["ok"]:
        return None
    flops, accessed = kept["flops"], kept["bytes_accessed"]
    more_flops, more_bytes = kept["again"]
    return report.Cost(
        None if flops is None else flops + more_flops,
        None if accessed is None else accessed + more_bytes,
        tuple(
            report.Loop(program.locations.get(name, ""), _short(name), trips, times)
            for name, trips, times in kept["loops"]
        ),
    )


def _requested(program):
    kinds = collections.OrderedDict()
    for each in program.collectives:
        kinds.setdefault(each.kind, []).append(each)
    return tuple(
        report.Collectives(
            kind,
            len(found),
            sum(shapes.array_bytes(each.dtype, tuple(each.shape)) for each in found),
            tuple(
                collections.OrderedDict.fromkeys(each.location for each in found if each.location)
            ),
        )
        for kind, found in kinds.items()
    )


def _hottest(program, topology, kept):
    """What each op of each instruction costs."""
    costs = [optimized.Cost(*each) for each in kept.get("costs", ())]
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
            roofline.bound(each.flops, each.bytes, each.sent, topology.generation),
        )
        for each in costs
    )


def _layer(name):
    """The name scopes around an op; those of a gradient are its op's."""
    parts = name.split("/")
    if parts[0] == "gradient_tape":
        return "/".join(parts[1:-2])
    return "/".join(parts[:-1])


def _short(name):
    """An op's name without the function calls around it, which the user did not write."""
    return name.rpartition("PartitionedCall/")[2]


def _warnings(program, topology, kept):
    made = list(program.warnings)
    used = program.replicas * program.partitions
    if used < topology.devices:
        made.append("%d of the %d devices of %s are used" % (used, topology.devices, topology.name))
    if topology.devices < topology.cores:
        made.append(
            "a chip's two TensorCores are compiled as one device (megacore): one replica a chip"
        )
    for name, trips, _ in kept.get("loops", ()):
        if trips is None:
            made.append(
                "%s: nobody knows how often this loop runs: its FLOPs, bytes and collectives "
                "count one round" % (program.locations.get(name) or _short(name))
            )
    if kept.get("room"):
        made.append(
            "the arrays at the peak are those of the program compiled for %s, which has room, "
            "with little optimization: for %s the compiler tells the sum alone"
            % (kept["room"], topology.name)
        )
    if any(each.description.startswith("assign") for each in program.shardings):
        made.append(
            "assigning to a logical device saves no memory and no time: every device "
            "computes it, and the others' results are masked"
        )
    return tuple(made)
