"""Handles errors of batching rules: the op is done once per replica, the explanation says why.

A program that runs without vectorization must also run with it, so the error of a rule is not
raised. In tpudist's own tests it is (``TPUDIST_STRICT_BATCHING=1``), so that none is missed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tpudist import machine
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation


class WrongShape(Exception):
    """A batching rule returned a tensor that has not the shape of all replicas' values."""


def reason(error: Any) -> str:
    """The reason, for the explanation, that a batching rule raised `error`.

    Raises:
      Exception: `error` itself, if ``TPUDIST_STRICT_BATCHING`` is 1.
    """
    if os.environ.get(machine.STRICT_BATCHING) == "1":
        raise error
    first_line = (str(error).splitlines() or [""])[0]
    return "its batching rule failed with %s: %s" % (type(error).__name__, first_line)


def checked(op: Operation, outputs: Any) -> Any:
    """Returns `outputs`, the batched outputs of `op`, after a check of their shapes.

    Raises:
      WrongShape: a tensor has not the shape of all replicas' values.
    """
    for value in outputs or ():
        if type(value) is batched_values.Batch and not value.has_expected_shape():
            raise WrongShape(
                "%s gives %s for %d replicas of %s"
                % (op.type, value.existing_tensor().shape, value.count, value.shape)
            )
    return outputs
