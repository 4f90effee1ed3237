"""``tpudist compile --fit``: the largest batch of a replica that fits a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tpudist.errors import ArgumentError, CompileError
from tpudist.tools.compile import units
from tpudist.tools.compile.arguments import Spec

if TYPE_CHECKING:
    from typing import Any, Callable

    from tpudist.tools.compile.report import Report

#: Multiples of it are tried: a tile of a TPU's memory has so many rows.
_TILE = 8

#: No batch is tried that is larger than this times the first, and none is told more
#: finely than a part of this times a tile.
_MOST = 1024


class Fit(NamedTuple):
    """What was found.

    Args:
      batch: the largest that fits.
      report: of it.
      above: the smallest that was tried and does not fit; None if all did.
      missing: what that one lacks, in bytes; None if the compiler does not say.
    """

    batch: int
    report: Report
    above: int | None
    missing: int | None


def batch_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """The batch of a replica: the first dimension of the first tensor.

    Args:
      args, kwargs: of ``arguments.parse``.

    Raises:
      ArgumentError: (a ValueError) no tensor has one.
    """
    for spec in _specs((args, kwargs)):
        if spec.shape:
            return int(spec.shape[0])
    raise ArgumentError(
        "--fit", "no argument has a batch", "--args with one, such as 'f32[128,28,28,1],s32[128]'"
    )


def scaled(value: Any, old: int, new: int) -> Any:
    """A nest of arguments with another batch where its tensors' first dimension is it.

    Args:
      value: nest of `arguments.Spec` and values.
      old, new: the batches.
    """
    if isinstance(value, Spec):
        batched = value.shape[:1] == (old,)
        return Spec(value.dtype, (new,) + value.shape[1:]) if batched else value
    if isinstance(value, tuple):
        return tuple(scaled(each, old, new) for each in value)
    if isinstance(value, dict):
        return {key: scaled(each, old, new) for key, each in value.items()}
    return value


def _specs(value: Any) -> list[Spec]:
    if isinstance(value, Spec):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    return [spec for each in value for spec in _specs(each)] if isinstance(value, tuple) else []


def largest(first: int, compiled: Callable[[int], Report]) -> Fit:
    """The largest batch that fits, found by compiling.

    Args:
      first: the batch to begin with.
      compiled: gives the `report.Report` of a batch.

    Returns:
      A `Fit`. From 8 on multiples of 8 are tried, of large batches those of more.

    Raises:
      CompileError: (a RuntimeError) one does not compile for another reason than
        memory, or none fits.
    """
    fits: dict[int, Report] = {}
    fails: dict[int, Report] = {}
    batch = first
    while batch not in fits and batch not in fails:
        report = _of_memory(batch, compiled(batch))
        (fits if report.ok else fails)[batch] = report
        if not fits and batch == 1:
            raise CompileError(
                "batch 1",
                "it does not fit either: %s" % (report.failure and report.failure.message),
                "bfloat16, tf.recompute_grad, or logical devices (--logical)",
            )
        batch = _next(first, fits, fails)
    return _fit(fits, fails)


def _next(first: int, fits: dict[int, Report], fails: dict[int, Report]) -> int:
    """The batch to try next; one that was tried ends the search."""
    if not fits:
        return max(1, min(fails) // 2)
    best = max(fits)
    if not fails:
        return best if best >= _MOST * first else 2 * best
    return _middle(best, min(fails))


def _middle(best: int, above: int) -> int:
    """A batch between one that fits and one that does not; the former where none is left."""
    unit = 1 if above <= _TILE else _TILE * max(1, best // _MOST)
    middle = (best + above) // 2 // unit * unit
    if middle <= best:
        middle = (best // unit + 1) * unit
    return middle if middle < above else best


def between(low: int, high: int, compiled: Callable[[int], Report]) -> Fit | None:
    """The largest batch that fits of those above one and up to another.

    Args:
      low: not tried.
      high: tried first.
      compiled: gives the `report.Report` of a batch.

    Returns:
      A `Fit`; None if no batch fits that was tried. As :func:`largest` the batches
      are multiples of 8, of large ones those of more.

    Raises:
      CompileError: (a RuntimeError) as of :func:`largest`.
    """
    fits: dict[int, Report] = {}
    fails: dict[int, Report] = {}
    batch = high
    while batch > low and batch not in fits and batch not in fails:
        report = _of_memory(batch, compiled(batch))
        if report.ok and batch == high:
            return Fit(batch, report, None, None)
        (fits if report.ok else fails)[batch] = report
        batch = _middle(max(fits, default=low), min(fails))
    return _fit(fits, fails) if fits else None


def _of_memory(batch: int, report: Report) -> Report:
    """The report, unless it failed, and not for want of memory."""
    if not report.ok and (report.failure is None or report.failure.kind != "out-of-memory"):
        raise CompileError(
            "batch %d" % batch,
            "it does not compile, and not for want of memory: %s"
            % (report.failure and report.failure.message),
            "tpudist compile without --fit, which tells more",
        )
    return report


def _fit(fits: dict[int, Report], fails: dict[int, Report]) -> Fit:
    best, above = max(fits), min(fails, default=None)
    failure = None if above is None else fails[above].failure
    return Fit(best, fits[best], above, failure and failure.missing)


def text(found: Fit) -> str:
    """What is told of it.

    Args:
      found: what :func:`largest` returned.
    """
    if found.above is None:
        return "fits: batch %d of a replica, and larger ones" % found.batch
    missing = ", by %s" % units.size(found.missing) if found.missing else ""
    return "fits: batch %d of a replica; %d does not%s" % (found.batch, found.above, missing)
