"""Keras' loops take a batch of a dataset for each tower, as in TensorFlow 1.12, or one for all.

Only ``model.compile(distribute=strategy)`` distributed Keras there, and each tower took a whole
batch of the dataset a step. From 1.13 on the batches are of all towers together, as they are here
for a model in ``strategy.scope()``, which 1.12 did not have, and for arrays, which its
TPUStrategy refused.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.core.input import distributed_datasets
from tpudist.errors import ArgumentError
from tpudist.tfcompat import keras_callers, nests

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Dataset, Strategy

_TOLD = (
    "tpudist: compile(distribute=strategy) is of TensorFlow 1.12, and as there each of the %d "
    "towers takes a batch of the dataset: a step has %d batches. From 1.13 on it has one"
)

#: The strategies of which this was said.
_told: weakref.WeakSet[Any] = weakref.WeakSet()


def are_whole(strategy: Strategy, dataset: Dataset) -> bool:
    """Whether each tower takes a whole batch of a dataset that is to be distributed.

    Says so once per strategy.

    Args:
      strategy: the strategy.
      dataset: what its ``make_dataset_iterator`` was given.
    """
    if not keras_callers.compiled_with(strategy, dataset):
        return False
    count = strategy.num_replicas_in_sync
    if count > 1 and strategy not in _told:
        _told.add(strategy)
        tf.compat.v1.logging.warning(_TOLD, count, count)
    return True


def joined(dataset: Dataset, count: int) -> Any:
    """A dataset of global batches, each of them `count` batches of `dataset` in their order.

    Args:
      dataset: a ``tf.data.Dataset`` of batches, all of one size.
      count: how many replicas split a global batch.

    Raises:
      ArgumentError: (a ValueError) batches of no fixed size.
    """
    shapes = distributed_datasets.shapes_of(dataset)
    if not all(shape.is_fully_defined() and shape.ndims for shape in nests.flatten(shapes)):
        raise ArgumentError(
            "a dataset of %s" % (shapes,),
            "on a TPU all sizes are fixed, and each core takes a batch",
            "dataset.batch(ROWS, drop_remainder=True)",
        )
    if count == 1:
        return dataset

    def together(*parts: Any) -> Any:
        merged = nests.map_structure(
            lambda part: tf.reshape(part, [-1] + part.shape.as_list()[2:]), parts
        )
        return merged if len(parts) > 1 else merged[0]

    return dataset.batch(count, drop_remainder=True).map(together)
