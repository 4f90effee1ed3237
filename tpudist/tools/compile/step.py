"""Compiles a replica's step with the real TPU compiler: ``tpudist.compile_step``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from tpudist.adapter import logical_devices
from tpudist.surfaces import slices
from tpudist.tools.compile.compiler import compilation
from tpudist.tools.compile.lowering import to_hlo, tracing
from tpudist.tools.compile.report import Report

if TYPE_CHECKING:
    from tpudist.annotations import Strategy


def compile_step(
    strategy: Strategy,
    step_fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    topology: str = "v5e:2x4",
    fast: bool = False,
    timeout: float = compilation.TIMEOUT,
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

    Returns:
      A `tpudist.tools.compile.report.Report`; it says whether the step compiles.

    Raises:
      CompileError: (a RuntimeError) the step cannot be lowered, or there is no
        compiler.
      TopologyError: (a ValueError) there is no such slice, or the replicas do
        not fit it.
    """
    slice_ = slices.find(topology)
    check(strategy, slice_)
    to_hlo.require()
    program = to_hlo.lower(tracing.trace(strategy, step_fn, args, kwargs))
    return compilation.compile_program(program, slice_, fast, timeout)


def check(strategy: Strategy, slice_: slices.Slice) -> None:
    """Refuses a slice that a strategy's replicas do not fit, with a TopologyError."""
    devices = logical_devices.logical_devices(strategy)
    compilation.check_fits(slice_, strategy.num_replicas_in_sync, devices)
