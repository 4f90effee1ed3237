"""Compiles a lowered step with libtpu and reports on it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from tpudist import slices
from tpudist.compile import answers, libtpu, process, summary, topologies
from tpudist.compile import cache as kept_answers
from tpudist.errors import CompileError
from tpudist.hlo import normal_form

if TYPE_CHECKING:
    from typing import Any, Callable

    from tpudist.compile.program import Program
    from tpudist.compile.report import Report


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

    Returns:
      A `report.Report`, also if the program does not compile.

    Raises:
      TopologyError: the slice does not exist or is too small.
      CompileError: libtpu is missing, too old, or cannot be loaded.
    """
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
    kept = kept_answers.read(place) if cache else None
    found = kept is not None
    if not found:
        request.update(libtpu=compiler.path, hlo=base64.b64encode(text).decode())
        kept = answers.digest(_checked(process.ask(request, timeout, progress), compiler))
        if answers.lasting(kept):
            kept_answers.write(place, kept)
    return summary.make(program, topology, fast, compiler, kept, found)


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
