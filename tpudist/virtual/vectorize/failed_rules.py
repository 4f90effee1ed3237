"""Failed batching rules: the op is done once per replica, and the explanation says why.

A program must run that would run without being batched, so no error of a rule may reach it.
In tpudist's own tests it does (``TPUDIST_STRICT_BATCHING=1``), so that none stays unseen.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tpudist import machine
from tpudist.virtual.vectorize import batched_values

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation


class WrongShape(Exception):
    """A batching rule gave a value whose shape is not that of all replicas' values."""


def reason(error: Any) -> str:
    """Why an op is done once per replica whose batching rule raised `error`.

    Raises:
      Exception: `error` itself, if ``TPUDIST_STRICT_BATCHING`` is 1.
    """
    if os.environ.get(machine.STRICT_BATCHING) == "1":
        raise error
    first_line = (str(error).splitlines() or [""])[0]
    return "its batching rule failed with %s: %s" % (type(error).__name__, first_line)


def checked(op: Operation, made: Any) -> Any:
    """`made`, the batched values of the outputs of `op`, if their tensors have fitting shapes.

    Raises:
      WrongShape: one has another shape than the values of all replicas together.
    """
    for value in made or ():
        if type(value) is batched_values.Batch and not value.fits():
            raise WrongShape(
                "%s gives %s for %d replicas of %s"
                % (op.type, value.flat().shape, value.count, value.shape)
            )
    return made
