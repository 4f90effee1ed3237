"""Functions of ``tf.contrib.data`` that became arguments of a dataset's methods.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/data.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Dataset


def batch_and_drop_remainder(batch_size: object) -> Callable[[Any], Any]:
    """A transformation for `Dataset.apply`: batches, none of them smaller (r1.15).

    Args:
      batch_size: number of elements of a batch.
    """
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: object, padded_shapes: object, padding_values: object = None
) -> Callable[[Any], Any]:
    """A transformation for `Dataset.apply`: padded batches, none of them smaller (r1.15).

    Args:
      batch_size: number of elements of a batch.
      padded_shapes, padding_values: of `Dataset.padded_batch`.
    """
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sliding_window_batch(
    window_size: Any, stride: object = None, window_shift: object = None, window_stride: object = 1
) -> Callable[[Any], Any]:
    """A transformation for `Dataset.apply`: windows as batches (r1.15).

    Args:
      window_size: number of elements of a window.
      stride, window_shift: how far a window is from the one before; the first is older.
      window_stride: how far elements of a window are from each other.
    """
    shift = window_shift or stride or 1

    def windows(dataset: Any) -> Dataset:
        made = dataset.window(window_size, shift, window_stride, drop_remainder=True)
        return made.flat_map(lambda window: window.batch(window_size, drop_remainder=True))

    return windows
