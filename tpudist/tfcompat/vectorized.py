"""TensorFlow's own converters for ``tf.vectorized_map``: one op for many copies of it.

Like :mod:`tpudist.tfcompat.functions`, this hides what TensorFlow keeps private; no
semantics live here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

import tensorflow as tf
from tensorflow.python.ops.parallel_for.pfor import (
    WrappedTensor,
    _pfor_converter_registry,
    _PforInput,
    wrap,
)

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor


class _Loop:
    """The part of TensorFlow's parallel loop that converters of single ops read."""

    all_indices_partitioned = False
    pfor_config = None

    def __init__(self, count: int) -> None:
        self._count = count
        self.loop_len_vector = tf.constant([count])

    @property
    def all_indices(self) -> Tensor:
        """The numbers of the copies."""
        return tf.range(self._count)


def converted(
    op: Operation, count: int, inputs: Sequence[tuple[Tensor, bool]]
) -> list[tuple[Tensor, bool]] | None:
    """Runs `count` copies of a stateless op as one; returns its outputs, None without a converter.

    Inputs and outputs are pairs (tensor of the current graph, whether it is stacked): of a stacked
    one each copy has what stands at its place along the first axis.
    """
    converter = _pfor_converter_registry.get(op.type)
    if converter is None:
        return None
    given = [wrap(tensor, is_stacked) for tensor, is_stacked in inputs]
    try:
        results = converter(_PforInput(_Loop(count), op, given))
    except Exception:  # noqa: BLE001
        return None  # however it says what it does not cover
    results = [results] if isinstance(results, WrappedTensor) else list(results)
    return [(each.t, each.is_stacked) for each in results]
