"""Compiles a lowered step with libtpu and reports on it."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

from tpudist.errors import CompileError
from tpudist.surfaces import slices
from tpudist.tools.compile import (
    answers,
    libtpu,
    process,
    pruning,
    summary,
    topologies,
    want_of_memory,
)
from tpudist.tools.compile import cache as kept_answers
from tpudist.tools.compile.hlo import normal_form, optimized

if TYPE_CHECKING:
    from typing import Any, Callable

    from tpudist.tools.compile.program import Program
    from tpudist.tools.compile.report import Report


#: How long the compiler may take, in seconds.
TIMEOUT = 1800

#: xla.ExecutionOptions.EffortLevel: the compiler's own choice, and O0.
_OPTIMIZED, _FAST = 0, 9


def compile_program(
    program: Program,
    topology: str | slices.Slice,
    fast: bool = False,
    timeout: float | None = TIMEOUT,
    progress: Callable[[float], object] | None = None,
    cache: bool = True,
    hlo: str | None = None,
    explain: bool = True,
) -> Report:
    """Compiles a program for a slice; no TPU is needed.

    Context: any; TensorFlow is neither imported nor needed.

    Args:
      program: a `program.Program`.
      topology: a name (``"v5e:2x4"``, ``"v5litepod-8"``) or a `slices.Slice`.
      fast: optimize little, for an answer in seconds; memory and cost are then
        those of a slower program.
      timeout: in seconds.
      progress: called with the seconds that the compiler has taken, a few
        times a second; None for no calls.
      cache: whether an answer of before will do.
      hlo: a folder; the program is compiled anew, and left there as it was before
        and after optimization, as serialized HloModuleProtos.
      explain: where the compiler tells of a program that does not fit only by how much,
        compile it, quickly, for a chip with room too, for the arrays that it holds.

    Returns:
      A `report.Report`, also if the program does not compile.

    Raises:
      TopologyError: the slice does not exist or is too small.
      CompileError: libtpu is missing, too old, or cannot be loaded.
      ArgumentError: TPUDIST_CACHE_SIZE is no size.
    """
    pruning.limit()
    if isinstance(topology, str):
        topology = slices.find(topology)
    topologies.check(topology, program.replicas, program.partitions)
    compiler = libtpu.find()
    text = normal_form.normalized(program.hlo, program.replicas, program.partitions)
    request = {
        "topology": topology.name,
        "options": topologies.options(topology),
        "replicas": program.replicas,
        "partitions": program.partitions,
        "level": _FAST if fast else _OPTIMIZED,
    }
    place = kept_answers.path(text, request, compiler.identity())
    kept: Any = kept_answers.read(place) if cache and not hlo else None
    found = kept is not None
    if not found:
        request.update(libtpu=compiler.path, hlo=base64.b64encode(text).decode())
        answer = _checked(process.ask(request, timeout, progress), compiler)
        if hlo:
            _leave(hlo, text, answer)
        kept = answers.digest(answer)
    if explain and want_of_memory.is_a_sum(kept) and "room" not in kept:
        kept.update(_with_room(program, text, topology, compiler, timeout, progress))
        found = False
    if not found and answers.lasting(kept):
        kept_answers.write(place, kept)
    return summary.make(program, topology, fast, compiler, kept, found)


def _with_room(
    program: Program,
    text: bytes,
    topology: slices.Slice,
    compiler: libtpu.Libtpu,
    timeout: float | None,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]:
    """What a program holds that does not fit, from a chip where it does.

    Returns:
      "room", the slice's name, "" if there is none, and "held" and "alive" as
      ``answers.digest`` has them.
    """
    room = topologies.with_room(topology, program.replicas * program.partitions)
    if room is None:
        return {"room": ""}
    request = {
        "topology": room.name,
        "options": topologies.options(room),
        "replicas": program.replicas,
        "partitions": program.partitions,
        "level": _FAST,
        "libtpu": compiler.path,
        "hlo": base64.b64encode(text).decode(),
    }
    found = answers.digest(process.ask(request, timeout, progress))
    if not found["ok"]:
        return {"room": ""}
    return {"room": room.name, "held": found["held"], "alive": found["alive"]}


def require(slice_: slices.Slice) -> None:
    """Refuses what no program could be compiled with, before anything is traced or run.

    Args:
      slice_: to compile for.

    Raises:
      CompileError: (a RuntimeError) libtpu is missing or broken or does not know the
        slice, or answers cannot be kept.
      ArgumentError: (a ValueError) TPUDIST_CACHE_SIZE is no size.
    """
    pruning.limit()
    compiler = libtpu.find()
    request = {"topology": slice_.name, "options": topologies.options(slice_)}
    place = kept_answers.path(b"", request, compiler.identity())
    known = kept_answers.read(place)
    if known is None:
        answer = process.ask(dict(request, libtpu=compiler.path), TIMEOUT)
        if not answer["ok"]:
            raise CompileError(
                "libtpu %s at %s" % (compiler.version, compiler.path),
                "it does not start for %s: %s" % (slice_.name, answer["message"]),
                "pip install --force-reinstall --upgrade libtpu; or " + libtpu.DOWNLOAD,
            )
        known = {"devices": answer["devices"]}
    if not kept_answers.write(place, known):  # also one that could be read
        raise CompileError(
            "the cache %s" % place,
            "it cannot be written, so that every run would compile anew",
            "TPUDIST_CACHE=DIR, a folder that can be written",
        )


def _leave(folder: str, before: bytes, answer: dict[str, Any]) -> None:
    """Writes a program into a folder, as it was handed over and as it came back."""
    os.makedirs(folder, exist_ok=True)
    parts = [("before.hlo.pb", before)]
    if answer["ok"]:
        module = optimized.module(base64.b64decode(answer["optimized"]))
        parts.append(("after.hlo.pb", module.SerializeToString()))
    for name, content in parts:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def _checked(answer: dict[str, Any], compiler: libtpu.Libtpu) -> dict[str, Any]:
    """The answer, unless it says that this libtpu will not do."""
    if answer["ok"] and answer["memory"] is None:
        raise CompileError(
            "libtpu %s (PJRT %s)" % (compiler.version, answer["pjrt"]),
            "it is too old to say how much memory a program takes",
            "pip install --upgrade libtpu (0.0.17 or newer)",
        )
    if not answer["ok"] and answer["code"] == "NOT_FOUND" and "pjrt" not in answer:
        raise CompileError(
            "libtpu at %s" % compiler.path,
            "it cannot be loaded: %s" % answer["message"],
            "pip install --force-reinstall libtpu; or " + libtpu.DOWNLOAD,
        )
    return answer
