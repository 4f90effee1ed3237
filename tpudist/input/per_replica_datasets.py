"""Datasets from which every replica takes its own element per step.

Reference: ``distribute_dataset`` (contrib). Unlike the distributed datasets of
2.x (:mod:`tpudist.input.distributed_datasets`) nothing is split: a step of 8
replicas takes 8 elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator

import tensorflow as tf

from tpudist.errors import ArgumentTypeError
from tpudist.tfcompat import distributed, distributed_values, functions
from tpudist.virtual.input import host_iterators

if TYPE_CHECKING:
    from tpudist.annotations import DatasetFn
    from tpudist.tfcompat.annotations import Nest, Operation, Strategy


class PerReplicaDataset:
    """One dataset per host, read by the replicas of that host in turn.

    Args:
      strategy: the strategy.
      dataset_fn: returns a ``tf.data.Dataset``; called once per host.
      hosts: the device of each host on which its input pipeline runs.

    Raises:
      ArgumentTypeError: (a TypeError) it returns something else.
    """

    def __init__(self, strategy: Strategy, dataset_fn: DatasetFn, hosts: Any) -> None:
        self._strategy = strategy
        self._hosts = hosts
        datasets = [_dataset(dataset_fn, host) for host in hosts]
        is_one = len(set(hosts)) == 1
        self._datasets = host_iterators.untuned(datasets) if is_one else datasets

    def make_one_shot_iterator(self) -> PerReplicaIterator:
        """A `PerReplicaIterator` that needs no initialisation."""
        return self._iterator(tf.compat.v1.data.make_one_shot_iterator)

    def make_initializable_iterator(self, shared_name: str | None = None) -> PerReplicaIterator:
        """A `PerReplicaIterator` to be initialised in a Session.

        In eager mode it starts at the first element.

        Args:
          shared_name: shares the iterator between Sessions, as for
            ``tf.compat.v1.data.make_initializable_iterator``.
        """
        if tf.executing_eagerly():
            return self.make_one_shot_iterator()
        return self._iterator(
            lambda dataset: functions.initializable_iterator(dataset, shared_name)
        ).restartable()

    def __iter__(self) -> Iterator[Any]:
        """Iterates over per-replica values (eager mode)."""
        return self._iterator(iter)

    def _iterator(self, make: Callable[[Any], Any]) -> PerReplicaIterator:
        made = []
        for host, dataset in zip(self._hosts, self._datasets):
            with tf.device(host):
                made.append(make(dataset))
        return PerReplicaIterator(self._strategy, made, self._hosts)


def _dataset(dataset_fn: DatasetFn, host: str) -> tf.data.Dataset[Any]:
    with tf.device(host):
        made = dataset_fn()
    if isinstance(made, functions.DatasetV2):
        return made
    raise ArgumentTypeError(
        "dataset_fn() returned %r" % (made,),
        "dataset_fn() must return a tf.data.Dataset when using a DistributionStrategy",
        "return a dataset of one replica's batches",
    )


class PerReplicaIterator:
    """Takes one element per replica at a time, in the order of the replicas."""

    def __init__(self, strategy: Strategy, iterators: Any, hosts: Any) -> None:
        self._strategy = strategy
        self._iterators = iterators
        self._hosts = hosts
        self._restart = None

    @property
    def output_shapes(self) -> Nest:
        """The shapes of one replica's element, for Keras of 1.13."""
        return self._iterators[0].output_shapes

    @property
    def initializer(self) -> Operation | None:
        """Op that (re)starts the iterator; None in eager mode."""
        if tf.executing_eagerly():
            return None
        if self._restart is None:
            self.restartable()
        return self._restart

    def restartable(self) -> PerReplicaIterator:
        """This iterator; adds its `initializer` to the graph now, before that is finalized."""
        self._restart = tf.group(*[each.initializer for each in self._iterators])
        return self

    def initialize(self) -> list[Operation]:
        """The ops that (re)start the iterator, as a list."""
        return [] if tf.executing_eagerly() else [each.initializer for each in self._iterators]

    def get_next(self, name: str | None = None) -> Nest:
        """The next element of every replica.

        Context: cross-replica; graph, ``tf.function`` or eager.

        Args:
          name: prefix of the ops' names.

        Returns:
          A nest as the dataset's elements, with per-replica values as leaves.

        Raises:
          tf.errors.OutOfRangeError: there is not one element per replica left
            (in a graph, when it is run).
        """
        strategy, elements = self._strategy, []
        each = len(strategy.extended.worker_devices) // len(self._hosts)
        for host, iterator in zip(self._hosts, self._iterators):
            with tf.device(host), tf.name_scope(name or "get_next"):
                elements += host_iterators.take(iterator.get_next, each)
        return distributed_values.telling(distributed.regroup(strategy.extended, elements))

    def next(self) -> Nest:
        """The same as `get_next()`, ending as Python's iterators do."""
        return self.__next__()

    def __next__(self) -> Nest:
        try:
            return self.get_next()
        except tf.errors.OutOfRangeError as error:
            raise StopIteration from error

    def __iter__(self) -> PerReplicaIterator:
        return self
