"""Distributed datasets for releases that have none, or none for uneven batches.

Reference: ``experimental_distribute_dataset``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.core.input import distributed_datasets, per_replica_datasets
from tpudist.tfcompat import distributed, functions, nests, versions

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.core.annotations import Dataset, Strategy


class SplitDataset:
    """A dataset of global batches, each cut into one part per replica.

    No example is lost: the last batch may be cut unevenly, down to no rows.

    Args:
      strategy: the strategy.
      dataset: a ``tf.data.Dataset`` of batches.
      hosts: the device of each host.
    """

    def __init__(self, strategy: Strategy, dataset: Dataset, hosts: Sequence[str]) -> None:
        self._strategy = strategy
        self._dataset = dataset
        self._hosts = hosts

    def iterator(self) -> Any:
        """What ``make_dataset_iterator`` returns."""
        return iter(self) if tf.executing_eagerly() else self.make_initializable_iterator()

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """A `SplitIterator` to be initialised in a Session."""
        return SplitIterator(
            self._strategy,
            functions.initializable_iterator(self._dataset, shared_name),
            self._hosts,
        ).restartable()

    _make_initializable_iterator = make_initializable_iterator

    def __iter__(self) -> Any:
        """Iterates over per-replica values.

        Context: eager.

        Raises:
          ContextError: (a RuntimeError) in a graph or a ``tf.function``.
        """
        distributed_datasets.refuse_in_a_graph()
        return SplitIterator(self._strategy, iter(self._dataset), self._hosts)


def needed(strategy: Strategy, dataset: Dataset) -> bool:
    """Whether TensorFlow's own distributed dataset cannot be used.

    Args:
      strategy: a strategy on the virtual TPU.
      dataset: a ``tf.data.Dataset`` of batches.
    """
    if not versions.HAS_DATASETS_FROM_FUNCTION:
        return True
    if functions.in_session_graph():
        return versions.GRAPHS_NEED_EVEN_BATCHES
    # TensorFlow asks for a host's rows by its device, and here all hosts share one.
    return (
        versions.BY_DEVICE
        and strategy.extended.num_hosts > 1
        and not _is_even(dataset, strategy.num_replicas_in_sync)
    )


def _is_even(dataset: Dataset, count: int) -> bool:
    """Whether all shapes are known and every replica gets the same number of rows."""
    shapes = [spec.shape for spec in nests.flatten(dataset.element_spec)]
    return all(
        shape.is_fully_defined() and shape.ndims and shape.as_list()[0] % count == 0
        for shape in shapes
    )


class SplitIterator(per_replica_datasets.PerReplicaIterator):
    """Takes a global batch at a time and cuts it.

    Args:
      strategy: the strategy.
      iterator: a ``tf.data`` iterator.
      hosts: the device of each host; the first one cuts.
    """

    def __init__(self, strategy: Strategy, iterator: Any, hosts: Sequence[str]) -> None:
        super().__init__(strategy, [iterator], hosts[:1])

    @property
    def output_shapes(self) -> Any:
        """The shapes of a replica's share, for Keras of 1.13."""
        count = self._strategy.num_replicas_in_sync

        def share(shape: Any) -> Any:
            rows = shape.as_list()[0] if shape.ndims else None
            even = rows is not None and rows % count == 0
            return tf.TensorShape([rows // count if even else None]).concatenate(shape[1:])

        return nests.map_structure(share, self._iterators[0].output_shapes)

    def get_next(self, name: str | None = None) -> Any:
        """The next global batch, a per-replica value for each leaf.

        Context: cross-replica; graph, ``tf.function`` or eager.
        """
        strategy, count = self._strategy, self._strategy.num_replicas_in_sync
        with tf.device(self._hosts[0]), tf.name_scope(name or "get_next"):
            batch = self._iterators[0].get_next()
            parts = [
                nests.map_structure(lambda leaf, i=i: _part(leaf, i, count), batch)
                for i in range(count)
            ]
        return distributed.regroup(strategy.extended, parts)


def _part(leaf: Any, index: int, count: int) -> Any:
    """Rows of `leaf` for replica `index` of `count`; the first replicas get more."""
    size = leaf.shape.as_list()[0] if leaf.shape.ndims else None
    if size is None:
        size = tf.shape(leaf)[0]
    each = (size + count - 1) // count
    return leaf[index * each : (index + 1) * each]
