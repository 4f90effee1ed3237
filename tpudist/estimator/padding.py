"""The last batch of a prediction: filled up for the cores, cut off from the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError
from tpudist.estimator import infeed
from tpudist.tfcompat import functions, nests

if TYPE_CHECKING:
    from typing import Any


class PaddedInfeed(infeed.Infeed):
    """Batches of one size, of which the last may be padding; it never ends.

    The labels of a batch are a mask: which of its rows are the user's.
    """

    def _started(self, given: list[Any]) -> Any:
        if not isinstance(given[0], functions.DatasetV2):
            raise ArgumentError(
                "an input function for predict() returned %r" % (given[0],),
                "predict() has to see where the input ends, to fill up the last batch",
                "return a tf.data.Dataset",
            )
        return super()._started(given)

    def _prepared(self, dataset: Any) -> Any:
        size = self._feeding.input_batch

        def padded(*element: Any) -> Any:
            features, _ = infeed.parsed(element if len(element) > 1 else element[0])
            rows = tf.shape(nests.flatten(features)[0])[0]
            filled = nests.map_structure(lambda leaf: _filled(leaf, size), features)
            return filled, tf.range(size) < rows

        made = dataset.map(padded)
        return made.concatenate(made.take(1).map(_all_padding).repeat())


def _filled(tensor: Any, size: int) -> Any:
    """`tensor` with `size` rows."""
    missing = size - tf.shape(tensor)[0]
    rest = tf.zeros([tensor.shape.ndims - 1, 2], tf.int32)
    paddings = tf.concat([tf.stack([[0, missing]]), rest], axis=0)
    filled = tf.pad(tensor, paddings) if tensor.dtype != tf.string else tensor
    filled.set_shape([size] + tensor.shape.as_list()[1:])
    return filled


def _all_padding(features: Any, mask: Any) -> Any:
    return features, tf.zeros_like(mask)


def cut(predictions: Any, mask: Any) -> Any:
    """The rows of `predictions`, a dictionary or a tensor of all cores, that are no padding.

    Raises:
      ArgumentError: (a ValueError) a prediction without a row for each example.
    """
    for tensor in nests.flatten(predictions):
        size = tensor.shape.as_list()[0] if tensor.shape.ndims else None
        if size != mask.shape.as_list()[0]:
            raise ArgumentError(
                "the prediction %s of shape %s" % (tensor.name, tensor.shape),
                "a batch has %s examples, and the padding of the last batch is cut off by "
                "rows" % mask.shape[0],
                "a tensor with a row for each example",
            )
    return nests.map_structure(lambda tensor: tf.boolean_mask(tensor, mask), predictions)
