"""Every error that tpudist raises on purpose.

Each class is also the builtin that code of that era already catches, so that
``except ValueError`` around a legacy call keeps working. A message has three
parts: what was seen, why it cannot work, and what to type instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Sequence

#: How NumPy 2 writes a scalar in a list; as everything else writes it, it is what is inside.
_NUMPY_SCALAR = re.compile(r"\bnp\.(?:bool|bytes|complex|float|int|str|uint)\w*\(([^()]*)\)")


class TpudistError(Exception):
    """Base of all tpudist errors: what was passed or done, why it cannot work, what to type."""

    # AutoGraph adds the user's source lines to an error by making it anew from
    # one string, but only where the class has this constructor; it turns every
    # other error into a StagingError, which no ``except ValueError`` catches.
    if not TYPE_CHECKING:
        __init__ = Exception.__init__
    else:

        def __init__(self, seen: str, why: str = "", instead: str = "") -> None: ...

    @property
    def seen(self) -> str:
        """The first part: what the caller passed or did."""
        return self._part(0)

    @property
    def why(self) -> str:
        """The second part: why that cannot work."""
        return self._part(1)

    @property
    def instead(self) -> str:
        """The third part: what to type instead."""
        return self._part(2)

    def _part(self, index: int) -> str:
        return _NUMPY_SCALAR.sub(r"\1", self.args[index]) if index < len(self.args) else ""

    def __str__(self) -> str:
        parts = [_sentence(self.seen), _sentence(self.why)]
        if self.instead:
            parts.append("Instead: " + self.instead)
        return " ".join(part for part in parts if part)


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?:" else text + "."


class MissingTensorFlowError(TpudistError, ImportError):
    """TensorFlow is not installed, or too old or broken to be used."""


class TPUNameError(TpudistError, ValueError, RuntimeError):
    """A resolver or ``TPUDIST_TPU`` names no TPU, or one that cannot exist.

    The resolver's page has a ValueError for the one, and a RuntimeError for an
    empty name on Google Cloud.
    """


class TPUAccessError(TpudistError, ValueError):
    """Google's services cannot be asked about a TPU: who asks, or how, is wrong."""


class TPUStateError(TpudistError, RuntimeError):
    """A TPU exists and cannot be used: its state, its health or its runtime."""


class TopologyError(TpudistError, ValueError):
    """Cores, computation shape or device assignment do not fit the slice."""


class ShardingError(TpudistError, ValueError):
    """A logical-device annotation does not fit the tensor or the assignment."""


class ContextError(TpudistError, RuntimeError):
    """A method was called in the wrong execution context."""


class EagerRunError(TpudistError, NotImplementedError):
    """``run`` was called with a plain Python function in pure eager mode."""


class CollectiveError(TpudistError, ValueError):
    """The values of a collective do not fit together across replicas."""


class PerReplicaError(TpudistError, ValueError):
    """A per-replica value has the wrong length or cannot be traced."""


class PerReplicaUseError(TpudistError, AttributeError, TypeError, ValueError):
    """A per-replica value was used as one tensor.

    TensorFlow raises an AttributeError for a member, a TypeError for an operator, and a
    ValueError for the argument of an op.
    """

    WHY = "it has a tensor for each replica"
    INSTEAD = (
        "strategy.experimental_local_results(value), a tuple of these tensors; or "
        "strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None), their sum, or with MEAN "
        "their mean"
    )


class ArgumentError(TpudistError, ValueError):
    """An argument has a value that the era's page does not accept."""


class ArgumentTypeError(TpudistError, TypeError):
    """An argument has a type that the era's page does not accept."""


class EraNameError(TpudistError, AttributeError):
    """A drop-in namespace does not cover this name of its era."""


class ContribNameError(TpudistError, NotImplementedError):
    """A name of contrib that nobody has any more was called or subclassed."""


class ScriptError(TpudistError, RuntimeError):
    """The script runner cannot run this script as asked."""


class MatrixError(TpudistError, RuntimeError):
    """A command cannot be run on a TensorFlow release."""


class CompileError(TpudistError, RuntimeError):
    """A program cannot be lowered, or there is no compiler for it here."""

    #: What is refused, a `tpudist.virtual.tpu_check.causes.Cause` for each line, if that is known.
    causes: Sequence[Any] = ()

    def __str__(self) -> str:
        return _on_lines(self)


class PinError(TpudistError, AssertionError):
    """A value is not what was recorded, or cannot be recorded."""

    def __str__(self) -> str:
        return _on_lines(self)


class MigrateError(TpudistError, ValueError):
    """``tpudist migrate`` cannot do what its options ask."""


def _on_lines(error: TpudistError) -> str:
    """The message, each part on lines of its own if the first has several."""
    if "\n" not in error.seen or not error.instead:
        return TpudistError.__str__(error)
    return "%s\n  %s\n  Instead: %s" % (error.seen, error.why, error.instead)
