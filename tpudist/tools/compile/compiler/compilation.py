"""Compiles a lowered step with libtpu, and reports on it."""

from __future__ import annotations

import base64
from typing import Any

from tpudist.errors import CompileError, TopologyError
from tpudist.surfaces import slices
from tpudist.tools.compile.compiler import libtpu, report_builder
from tpudist.tools.compile.hlo import messages, normal_form
from tpudist.tools.compile.report import Program, Report

#: The default time limit of the compiler, in seconds.
TIMEOUT = 1800

#: xla.ExecutionOptions.EffortLevel: the compiler's own choice, and O0.
_OPTIMIZED, _FAST = 0, 9


def compile_program(
    program: Program,
    topology: str | slices.Slice,
    fast: bool = False,
    timeout: float | None = TIMEOUT,
) -> Report:
    """Compiles a program for a slice, without a TPU; reports also if it does not compile.

    Context: any.

    Raises:
      TopologyError: the slice does not exist or is too small.
      CompileError: libtpu is missing, too old, or cannot be loaded.
    """
    slice_ = slices.find(topology) if isinstance(topology, str) else topology
    check_fits(slice_, program.replicas, program.partitions)
    compiler = libtpu.find()
    text = normal_form.normalized(program.hlo, program.replicas, program.partitions)
    encoded = compile_options(program.replicas, program.partitions, fast)
    request = {
        "libtpu": compiler.path,
        "topology": slice_.name,
        "options": topology_options(slice_),
        "compile_options": base64.b64encode(encoded).decode(),
        "hlo": base64.b64encode(text).decode(),
    }
    answer = libtpu.ask(request, timeout)
    unusable = answer.get("code") == libtpu.TOO_OLD or "kind" not in answer
    if not answer["ok"] and unusable and answer["code"] not in (libtpu.CRASHED, libtpu.TIMED_OUT):
        raise CompileError(
            "libtpu %s at %s" % (compiler.version, compiler.path),
            "it does not start for %s: %s" % (slice_.name, answer["message"]),
            "pip install --force-reinstall --upgrade libtpu (0.0.17 or newer); or "
            + libtpu.DOWNLOAD,
        )
    return report_builder.build(program, slice_, fast, compiler, answer)


def compile_options(replicas: int, partitions: int, fast: bool) -> bytes:
    """Returns the options of one compilation, a serialized CompileOptionsProto.

    The logical devices of a replica are neighbours. Several of them are one SPMD program. The
    numbers of fields are those of ``xla/pjrt/proto/compile_options.proto`` in OpenXLA.
    """
    devices = range(replicas * partitions)
    groups = [devices[partition::partitions] for partition in range(partitions)]
    assignment = messages.encoded(
        (1, replicas),
        (2, partitions),
        *((3, messages.encoded(*((1, device) for device in group))) for group in groups),
    )
    build = messages.encoded(
        (1, -1),  # the device's ordinal: any
        (4, replicas),
        (5, partitions),
        (6, partitions > 1),  # whether it is SPMD
        (9, assignment),
        (24, _FAST if fast else _OPTIMIZED),
    )
    return messages.encoded((3, build))


def topology_options(slice_: slices.Slice) -> dict[str, Any]:
    """Returns what libtpu needs beside the name: the chip's cores, the host's chips, the rings.

    It has "chip_config_name" where a chip of two TensorCores is one device, which libtpu would
    otherwise make two. "wrap" has 1 for each axis whose ends are connected: in a slice of two
    axes one that is as long as its pod; a slice of three is made of cubes, which are to be whole.
    """
    attributes: dict[str, Any] = {"chips_per_host_bounds": list(slice_.host)}
    if slice_.generation == "v4":
        attributes["chip_config_name"] = "megacore"
    ring = slice_.about.ring
    if slice_.about.axes == 2:
        wrap = [int(chips == ring) for chips in slice_.shape] + [0]
    else:
        wrap = [int(all(chips % ring == 0 for chips in slice_.shape))] * 3
    if any(wrap):
        attributes["wrap"] = wrap
    return attributes


def check_fits(slice_: slices.Slice, replicas: int, partitions: int) -> None:
    """Refuses a program that does not fit on a slice, before any compiler runs."""
    if replicas * partitions > slice_.devices:
        has = str(slice_.devices)
        if slice_.devices != slice_.cores:
            has += ", each a chip whose two TensorCores are one device"
        raise TopologyError(
            "%d replicas x %d logical devices on %s" % (replicas, partitions, slice_.name),
            "they need %d devices, and it has %s" % (replicas * partitions, has),
            "%d replicas, or a larger slice" % (slice_.devices // partitions)
            if slice_.devices >= partitions
            else "fewer logical devices, or a larger slice",
        )
