"""Summaries that a model function makes, which nobody writes: they are told.

A TPU has no summaries outside of ``host_call``.
Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUEstimatorSpec.md
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.virtual import explanations

if TYPE_CHECKING:
    from typing import Any, Iterable

_SUMMARY = re.compile(r"(Write)?(Scalar|Histogram|Image|Audio|Tensor|)Summary(V2)?$")

#: {"file:line"} that was told; a model function is called for each training.
_told: set[str] = set()


def tell(ops: Iterable[Any]) -> None:
    """Says of each line that makes summaries, once, that they are not written.

    Args:
      ops: those of a model function on the cores.
    """
    for op in ops:
        found = _SUMMARY.match(op.type)
        place = explanations.place(op) if found else None
        if found and place is not None and place not in _told:
            _told.add(place)
            tf.compat.v1.logging.warning(
                "tpudist: %s: the summary %r is not written: a TPU has no summaries outside of "
                "host_call. Instead: TPUEstimatorSpec(..., host_call=(host_fn, "
                "[tf.reshape(value, [1])])), where host_fn(value) writes it with "
                "tf.contrib.summary.%s",
                place,
                op.name,
                found.group(2).lower() or "scalar",
            )
