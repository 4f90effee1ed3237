"""Distributed datasets for releases that have none, or only for whole batches.

Reference: ``experimental_distribute_dataset`` and
``experimental_distribute_datasets_from_function``.
"""

import tensorflow as tf

from tpudist.core import layout, per_replica_datasets, strategies
from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, functions, nests, versions
from tpudist.virtual import host_iterators


class SplitDataset:
    """A dataset of global batches, each cut into one part per replica.

    No example is lost: the last batch may be cut unevenly, down to no rows.

    Args:
      strategy: the strategy.
      dataset: a ``tf.data.Dataset`` of batches.
    """

    def __init__(self, strategy, dataset):
        self._strategy = strategy
        self._dataset = dataset

    def make_initializable_iterator(self, shared_name=None):
        """A `SplitIterator` to be initialised in a Session."""
        return SplitIterator(
            self._strategy, functions.initializable_iterator(self._dataset, shared_name)
        )

    _make_initializable_iterator = make_initializable_iterator

    def __iter__(self):
        """Iterates over per-replica values.

        Context: eager.

        Raises:
          ContextError: (a RuntimeError) in a graph or a ``tf.function``.
        """
        _refuse_in_a_graph()
        return SplitIterator(self._strategy, iter(self._dataset))


def _refuse_in_a_graph():
    if functions.in_function():
        raise ContextError(
            "a distributed dataset was iterated over in a tf.function",
            "this TensorFlow's AutoGraph would unroll the loop for ever",
            "iterator = iter(dataset) before the function is called, and next(iterator) in it",
        )
    if functions.in_graph():
        raise host_iterators.iterated_in_a_graph()


def split_dataset(strategy, dataset):
    """A `SplitDataset`, or None where TensorFlow's own does as well."""
    if not strategies.is_virtual(strategy):
        return None
    if not versions.HAS_DATASETS_FROM_FUNCTION:
        return SplitDataset(strategy, dataset)
    if functions.in_graph() and not functions.in_function():
        needed = versions.GRAPHS_NEED_EVEN_BATCHES
    else:  # whether a host has rows is told by its device, and here is but one
        needed = (
            versions.BY_DEVICE
            and layout.num_hosts(strategy) > 1
            and not _is_even(dataset, strategy.num_replicas_in_sync)
        )
    return SplitDataset(strategy, dataset) if needed else None


def _is_even(dataset, count):
    """Whether all shapes are known, and each replica gets as many rows."""
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
    """

    def __init__(self, strategy, iterator):
        super().__init__(strategy, [iterator], layout.pipeline_devices(strategy)[:1])

    def get_next(self, name=None):
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


def _part(leaf, index, count):
    """Rows of `leaf` for replica `index` of `count`; the first ones get more."""
    size = leaf.shape.as_list()[0] if leaf.shape.ndims else None
    if size is None:
        size = tf.shape(leaf)[0]
    each = (size + count - 1) // count
    return leaf[index * each : (index + 1) * each]


class FunctionDataset(per_replica_datasets.PerReplicaDataset):
    """A dataset of per-replica batches for each host.

    Args:
      strategy: the strategy.
      dataset_fn: ``dataset_fn(InputContext)`` returns a dataset; called once
        per host.
    """

    def __init__(self, strategy, dataset_fn):
        hosts = len(layout.pipeline_devices(strategy))
        contexts = iter(
            [
                tf.distribute.InputContext(
                    num_input_pipelines=hosts,
                    input_pipeline_id=host,
                    num_replicas_in_sync=strategy.num_replicas_in_sync,
                )
                for host in range(hosts)
            ]
        )
        super().__init__(strategy, lambda: dataset_fn(next(contexts)))

    def _make_initializable_iterator(self, shared_name=None):
        return self.make_initializable_iterator(shared_name)

    def __iter__(self):
        """Iterates over per-replica values.

        Context: eager.

        Raises:
          ContextError: (a RuntimeError) in a graph or a ``tf.function``.
        """
        _refuse_in_a_graph()
        plain = super().__iter__()
        return FunctionIterator(self._strategy, plain._iterators, plain._hosts)


class FunctionIterator(per_replica_datasets.PerReplicaIterator):
    """Gives no rows to replicas for which there are no more elements."""

    def get_next(self, name=None):
        """See the base class.

        Raises:
          tf.errors.OutOfRangeError: there is no element for any replica.
        """
        if not tf.executing_eagerly():
            return super().get_next(name)
        strategy, elements, first = self._strategy, [], []
        each = strategy.num_replicas_in_sync // len(self._hosts)
        for iterator in self._iterators * each:
            try:
                elements.append(iterator.get_next())
                first = first or elements[-1:]
            except tf.errors.OutOfRangeError:
                elements.append(None)
        if not first:
            raise tf.errors.OutOfRangeError(None, None, "End of sequence")
        parts = [
            _no_rows(first[0]) if part is None else part
            for host in range(len(self._hosts))
            for part in elements[host :: len(self._hosts)]
        ]
        return distributed.regroup(strategy.extended, parts)


def _no_rows(element):
    return nests.map_structure(lambda leaf: leaf[:0], element)


def make_dataset_iterator(strategy, dataset):
    """See :func:`pipelines.make_dataset_iterator`."""
    if versions.HAS_INPUT_LIB or not strategies.is_virtual(strategy):
        return per_replica_datasets.make_dataset_iterator(strategy, dataset)
    return _iterator(SplitDataset(strategy, dataset))


def make_input_fn_iterator(strategy, input_fn, *replication_mode):
    """See :func:`pipelines.make_input_fn_iterator`."""
    if versions.HAS_INPUT_LIB or not strategies.is_virtual(strategy):
        return per_replica_datasets.make_input_fn_iterator(strategy, input_fn, *replication_mode)
    return _iterator(FunctionDataset(strategy, input_fn))


def _iterator(dataset):
    if tf.executing_eagerly():
        return iter(dataset)
    return dataset.make_initializable_iterator()
