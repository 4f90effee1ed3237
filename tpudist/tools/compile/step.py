"""Compiles a replica's step with the real TPU compiler: ``tpudist.compile_step``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from tpudist.surfaces import slices
from tpudist.tools.compile.compiler import compilation
from tpudist.tools.compile.program import Program
from tpudist.tools.compile.report import Report

if TYPE_CHECKING:
    import tensorflow as tf

    from tpudist.core.annotations import Strategy
    from tpudist.tools.compile.lowering.tracing import Step


def compile_step(
    strategy: Strategy,
    step_fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    topology: str = "v5e:2x4",
    fast: bool = False,
    timeout: float = compilation.TIMEOUT,
    progress: Callable[[float], object] | None = None,
    cache: bool = True,
    lower_with: str | None = None,
) -> Report:
    """Compiles a step for a TPU, without one.

    Context: cross-replica; eager, in a graph, or in a ``tf.function``.
    `step_fn` is traced once, as by ``strategy.run``, with a replica id that
    only the TPU knows; nothing is run. Implements no page: it is tpudist's
    own.

    Args:
      strategy: a strategy of any era, on a virtual TPU of as many replicas as
        the step is to run on.
      step_fn: the replica function, or a ``tf.function`` of it.
      args: what one replica gets: arrays, tensors or ``tf.TensorSpec`` in the
        shapes of one replica's batch; per-replica values; nests of these.
        Anything else is passed as it is.
      kwargs: the same by name, or None.
      topology: the slice, such as "v5e:2x4", "v4:2x2x2" or "v5litepod-8".
      fast: compile with few optimizations: an answer in a fraction of the
        time, but the program's time and temporary memory are not those of the
        optimized program.
      timeout: seconds after which the compiler is ended.
      progress: called with the seconds passed, now and then, while the
        compiler works; or None.
      cache: use an earlier answer of the same compiler for the same program.
      lower_with: the Python of another environment, whose TensorFlow of 2.5 or
        newer lowers what an older one traced here; None for this one.

    Returns:
      A `tpudist.tools.compile.report.Report`; it says whether the step compiles.

    Raises:
      CompileError: (a RuntimeError) the step cannot be lowered, or there is no
        compiler.
      TopologyError: (a ValueError) there is no such slice, or the replicas do
        not fit it.
    """
    slice_ = check(strategy, topology)
    return compilation.compile_program(
        lower_step(strategy, step_fn, args, kwargs, lower_with),
        slice_,
        fast=fast,
        timeout=timeout,
        progress=progress,
        cache=cache,
    )


def compile_graph(
    graph: tf.Graph,
    topology: str = "v5e:2x4",
    fast: bool = False,
    timeout: float = compilation.TIMEOUT,
    progress: Callable[[float], object] | None = None,
    cache: bool = True,
    lower_with: str | None = None,
) -> list[Report]:
    """Compiles the TPU programs in a graph that TensorFlow's own TPUStrategy built.

    A legacy script builds such a graph for a TPU.

    Context: any; nothing is run. Implements no page: it is tpudist's own.

    Args:
      graph: a ``tf.Graph`` in which replicas of a native TPUStrategy (or
        ``tpu.replicate``) were built, on a TPU or on a described one.
      topology, fast, timeout, progress, cache, lower_with: as for
        :func:`compile_step`.

    Returns:
      A list of `tpudist.tools.compile.report.Report`, one for each program.

    Raises:
      CompileError: (a RuntimeError) there is no program in the graph, or one
        cannot be lowered, or there is no compiler.
      TopologyError: (a ValueError) as for :func:`compile_step`.
    """
    from tpudist.tools.compile.lowering import native_programs, step_message  # Imports TensorFlow.

    slice_ = slices.find(topology)
    programs = [
        step_message.lower(message, lower_with) for message in native_programs.messages(graph)
    ]
    return [
        compilation.compile_program(
            each, slice_, fast=fast, timeout=timeout, progress=progress, cache=cache
        )
        for each in programs
    ]


def check(strategy: Strategy, topology: str) -> slices.Slice:
    """Returns the slice of a name, and refuses one that the strategy's replicas do not fit.

    Raises:
      TopologyError: as for :func:`compile_step`.
    """
    from tpudist.core import logical_devices  # It imports TensorFlow.

    slice_ = slices.find(topology)
    compilation.check_fits(
        slice_, strategy.num_replicas_in_sync, logical_devices.logical_devices(strategy)
    )
    return slice_


def require_lowering(lower_with: str | None = None) -> None:
    """Refuses a TensorFlow that cannot lower a step, unless another environment does it."""
    from tpudist.tools.compile.lowering import to_hlo  # It imports TensorFlow.

    if lower_with is None:
        to_hlo.require()


def lower_step(
    strategy: Strategy,
    step_fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    lower_with: str | None = None,
) -> Program:
    """Traces a step and lowers it to a `program.Program`; see :func:`compile_step`."""
    from tpudist.tools.compile.lowering import tracing  # It imports TensorFlow.

    return lower_traced(tracing.trace(strategy, step_fn, args, kwargs).step, lower_with)


def lower_traced(traced: Step, lower_with: str | None = None) -> Program:
    """Lowers a traced step to a `program.Program`, with the Python `lower_with` unless it is None.

    Raises:
      CompileError: the step cannot be lowered.
    """
    from tpudist.tools.compile.lowering import step_message, to_hlo

    if lower_with is None:
        return to_hlo.lower(traced)
    return step_message.lower(step_message.message(traced), lower_with)
