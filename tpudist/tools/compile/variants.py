"""What else would make a batch fit: the program with one line more, compiled.

Each variant executes the user's file anew with that line before it, and is what the
user gets by typing it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tpudist.errors import CompileError
from tpudist.tools.compile import units

if TYPE_CHECKING:
    from typing import Any, Callable, ContextManager

    from tpudist.tools.compile.fit import Fit


class Variant(NamedTuple):
    """A variant: what it is called, the line to type, and a context manager that does it."""

    name: str
    line: str
    around: Callable[[], ContextManager[Any]]


def _bfloat16() -> ContextManager[Any]:
    from tpudist.tfcompat import keras_packages  # It imports TensorFlow.

    return keras_packages.bfloat16()


def _recomputing() -> ContextManager[Any]:
    from tpudist.tfcompat import keras_packages

    found = keras_packages.recomputing()
    if found is None:
        raise CompileError(
            "tf.keras is Keras 2 here",
            "it has no setting that recomputes layers, as RematScope of Keras 3",
            "tf.recompute_grad around layers in the program, and --fit again",
        )
    return found


ALL = (
    Variant(
        "bfloat16",
        "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16') before the model is made",
        _bfloat16,
    ),
    Variant(
        "recompute",
        "with keras.RematScope(mode='full'): around the making of the model",
        _recomputing,
    ),
)


def text(variant: Variant, found: Fit | None, batches: tuple[int, int]) -> str:
    """What is told of a variant.

    Args:
      variant: a `Variant`.
      found: of ``fit.between``.
      batches: the largest that fits without it, and the one that was asked for.
    """
    if found is None:
        return "%s: no batch above %d fits with it either" % (variant.name, batches[0])
    size = units.size(found.report.memory.total) if found.report.memory else ""
    line = "%s: fits batch %d (%s) with %s" % (variant.name, found.batch, size, variant.line)
    if found.above is not None and found.missing:
        line += "; %d does not, by %s" % (found.above, units.size(found.missing))
    return line


def failed(variant: Variant, error: Exception) -> str:
    """What is told of one that does not run.

    Args:
      variant: a `Variant`.
      error: what executing or compiling the program with it raised.
    """
    return "%s: not known: %s" % (variant.name, str(error).strip().replace("\n", " "))
