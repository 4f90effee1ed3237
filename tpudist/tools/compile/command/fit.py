"""Searches for the largest batch of a replica that fits a device: ``tpudist compile --fit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from tpudist.errors import ArgumentError, CompileError
from tpudist.tools.compile.arguments import Spec
from tpudist.tools.compile.pages import units
from tpudist.tools.compile.report import Report

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest

#: The rows of a tile of a TPU's memory; from one tile on, whole tiles are tried.
_TILE = 8

#: The largest batch that is tried is this many times the first one; the result is exact to
#: one part in this many, but at most to a tile.
_MAX_GROWTH = 1024


class Fit(NamedTuple):
    """The largest batch that fits."""

    batch: int
    report: Report  # of that batch
    above: int | None  # the smallest that was tried and does not fit; None if all fit
    missing: int | None  # the bytes that `above` lacks; None if the compiler does not say


def batch_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Returns the batch of a replica: the first dimension of the first tensor.

    Raises:
      ArgumentError: no tensor has a dimension.
    """
    for spec in _specs((args, kwargs)):
        if spec.shape:
            return spec.shape[0]
    raise ArgumentError(
        "--fit", "no argument has a batch", "--args with one, such as 'f32[128,28,28,1],s32[128]'"
    )


def with_batch(value: Any, old: int, new: int) -> Nest:
    """Returns a nest of arguments with another batch, where a first dimension is the old one."""
    if isinstance(value, Spec):
        batched = value.shape[:1] == (old,)
        return Spec(value.dtype, (new,) + value.shape[1:]) if batched else value
    if isinstance(value, tuple):
        return tuple(with_batch(each, old, new) for each in value)
    if isinstance(value, dict):
        return {key: with_batch(each, old, new) for key, each in value.items()}
    return value


def _specs(value: Any) -> list[Spec]:
    if isinstance(value, Spec):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    return [spec for each in value for spec in _specs(each)] if isinstance(value, tuple) else []


def largest(first: int, compile_batch: Callable[[int], Report]) -> Fit:
    """Finds the largest batch that fits, by compiling; the search begins with a batch `first`.

    From 8 on multiples of 8 are tried, and of more for large batches.

    Raises:
      CompileError: a batch does not compile for another reason than memory, or none fits.
    """
    fits, fails = _search(first, compile_batch)
    if not fits:
        failure = fails[min(fails)].failure
        raise CompileError(
            "batch 1",
            "it does not fit either: %s" % (failure and failure.message),
            "bfloat16, tf.recompute_grad, or logical devices (--logical)",
        )
    return _fit(fits, fails)


def _search(
    batch: int, compile_batch: Callable[[int], Report]
) -> tuple[dict[int, Report], dict[int, Report]]:
    """Compiles batches until the largest that fits is known, or is `_MAX_GROWTH` times the first.

    Returns the reports of the batches that fit, and of those that do not.
    """
    fits: dict[int, Report] = {}
    fails: dict[int, Report] = {}
    high = _MAX_GROWTH * batch
    while batch and batch not in fits and batch not in fails:
        report = _checked(batch, compile_batch(batch))
        (fits if report.ok else fails)[batch] = report
        best = max(fits, default=0)
        if fails:
            batch = _middle(best, min(fails))
        elif best < high:
            batch = 2 * best
    return fits, fails


def _middle(best: int, above: int) -> int:
    """Returns a batch between one that fits and one that does not; the former if none is left."""
    unit = 1 if above <= _TILE else _TILE * max(1, best // _MAX_GROWTH)
    middle = (best + above) // 2 // unit * unit
    if middle <= best:
        middle = (best // unit + 1) * unit
    return middle if middle < above else best


def _checked(batch: int, report: Report) -> Report:
    """Returns a report, or raises if the program failed for another reason than memory."""
    if not report.ok and (report.failure is None or report.failure.kind != "out-of-memory"):
        raise CompileError(
            "batch %d" % batch,
            "it does not compile, for another reason than memory: %s"
            % (report.failure and report.failure.message),
            "tpudist compile without --fit, which reports more",
        )
    return report


def _fit(fits: dict[int, Report], fails: dict[int, Report]) -> Fit:
    best, above = max(fits), min(fails, default=None)
    failure = None if above is None else fails[above].failure
    return Fit(best, fits[best], above, failure and failure.missing)


def text(fit: Fit) -> str:
    """Formats what :func:`largest` returned."""
    if fit.above is None:
        return "fits: batch %d of a replica, and larger ones" % fit.batch
    missing = ", by %s" % units.size(fit.missing) if fit.missing else ""
    return "fits: batch %d of a replica; %d does not%s" % (fit.batch, fit.above, missing)
