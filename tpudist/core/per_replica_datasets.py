"""Datasets of which every replica takes its own element per step.

Reference: ``distribute_dataset`` (contrib). Unlike the distributed datasets of
2.x nothing is split: a step of 8 replicas takes 8 elements. What those need
besides TensorFlow's own classes is at the end.
"""

import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops

from tpudist.core import layout, strategies
from tpudist.errors import ArgumentError, ArgumentTypeError, ContextError
from tpudist.tfcompat import distributed, functions, nests, versions
from tpudist.virtual import host_iterators


class PerReplicaDataset:
    """One dataset per host, read by the replicas of that host in turn.

    Args:
      strategy: the strategy.
      dataset_fn: returns a ``tf.data.Dataset``; called once per host.

    Raises:
      ArgumentTypeError: (a TypeError) it returns something else.
    """

    def __init__(self, strategy, dataset_fn):
        self._strategy = strategy
        self._hosts = layout.pipeline_devices(strategy)
        self._datasets = [_dataset(dataset_fn, host) for host in self._hosts]
        if strategies.is_virtual(strategy):
            self._datasets = host_iterators.untuned(self._datasets)

    def make_one_shot_iterator(self):
        """A `PerReplicaIterator` that needs no initialisation."""
        return self._iterator(tf.compat.v1.data.make_one_shot_iterator)

    def make_initializable_iterator(self, shared_name=None):
        """A `PerReplicaIterator` to be initialised in a Session.

        In eager mode it starts at the first element.

        Args:
          shared_name: shares the iterator between Sessions, as of
            ``tf.compat.v1.data.make_initializable_iterator``.
        """
        if tf.executing_eagerly():
            return self.make_one_shot_iterator()
        return self._iterator(
            lambda dataset: functions.initializable_iterator(dataset, shared_name)
        )

    def __iter__(self):
        """Iterates over per-replica values (eager mode)."""
        return self._iterator(iter)

    def _iterator(self, make):
        made = []
        for host, dataset in zip(self._hosts, self._datasets):
            with tf.device(host):
                made.append(make(dataset))
        return PerReplicaIterator(self._strategy, made, self._hosts)


def _dataset(dataset_fn, host):
    with tf.device(host):
        made = dataset_fn()
    if isinstance(made, dataset_ops.DatasetV2):
        return made
    raise ArgumentTypeError(
        "dataset_fn() returned %r" % (made,),
        "dataset_fn() must return a tf.data.Dataset when using a DistributionStrategy",
        "return a dataset of one replica's batches",
    )


class PerReplicaIterator:
    """Takes one element per replica at a time, in the order of the replicas.

    Args:
      strategy: the strategy.
      iterators: one ``tf.data`` iterator per host.
      hosts: the hosts' devices.
    """

    def __init__(self, strategy, iterators, hosts):
        self._strategy = strategy
        self._iterators = iterators
        self._hosts = hosts

    @property
    def initializer(self):
        """Op that (re)starts the iterator; None in eager mode."""
        if tf.executing_eagerly():
            return None
        return tf.group(*[each.initializer for each in self._iterators])

    def initialize(self):
        """The ops that (re)start the iterator, as a list."""
        return [] if tf.executing_eagerly() else [each.initializer for each in self._iterators]

    def get_next(self, name=None):
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
        each = strategy.num_replicas_in_sync // len(self._hosts)
        for host, iterator in zip(self._hosts, self._iterators):
            with tf.device(host), tf.name_scope(name or "get_next"):
                elements += host_iterators.take(iterator.get_next, each)
        return distributed.regroup(strategy.extended, elements)

    def next(self):
        """The same as `get_next()`, ending as Python's iterators do."""
        return self.__next__()

    def __next__(self):
        try:
            return self.get_next()
        except tf.errors.OutOfRangeError as error:
            raise StopIteration from error

    def __iter__(self):
        return self


class GraphDataset:
    """What a distributed dataset is in a TF 1 graph.

    It makes iterators that a Session initialises, which is what
    ``tf.compat.v1.data.make_initializable_iterator`` asks it for.

    Args:
      make_iterator: makes an iterator, with `initializer` and `get_next()`.
    """

    def __init__(self, make_iterator):
        self._make_iterator = make_iterator

    def make_initializable_iterator(self, shared_name=None):
        """An iterator over per-replica values; `shared_name` is unused."""
        return self._make_iterator()

    _make_initializable_iterator = make_initializable_iterator

    def __iter__(self):
        """Refuses: a graph has no elements to loop over.

        Raises:
          ContextError: (a RuntimeError) always.
        """
        raise host_iterators.iterated_in_a_graph()


def default_session(method):
    """The Session that is entered; in a ``tf.function`` None will do."""
    session = tf.compat.v1.get_default_session()
    if session is None and not functions.in_function():
        raise ContextError(
            "%s() was called in a graph without a Session" % method,
            "the arrays go into variables, which a Session initialises",
            "with session.as_default(): ... %s(...)" % method,
        )
    return session


def make_dataset_iterator(strategy, dataset):
    """An iterator over a dataset of global batches, to be initialized."""
    return strategies.native_call(strategy, "make_dataset_iterator", dataset)


def make_input_fn_iterator(strategy, input_fn, *replication_mode):
    """An iterator over per-replica batches, to be initialized.

    Args:
      strategy: the strategy.
      input_fn: ``input_fn(InputContext)`` returns a dataset; called once per
        host.
      *replication_mode: a ``tf.distribute.InputReplicationMode``, if any.
    """
    return strategies.native_call(strategy, "make_input_fn_iterator", input_fn, *replication_mode)


def graph_dataset(strategy, dataset):
    """A `GraphDataset` of global batches, or None where it is not needed."""
    if not _needs_graph_dataset(strategy):
        return None
    return GraphDataset(lambda: strategy.extended._make_dataset_iterator(dataset))


def graph_dataset_from_function(strategy, dataset_fn):
    """A `GraphDataset` of per-replica batches, or None likewise."""
    if not _needs_graph_dataset(strategy):
        return None
    return GraphDataset(lambda: strategy.extended._make_input_fn_iterator(dataset_fn))


def _needs_graph_dataset(strategy):
    """Whether a Session cannot initialise TensorFlow's distributed dataset."""
    return (
        functions.in_graph()
        and not functions.in_function()
        and not (strategies.is_virtual(strategy) and versions.ITERATORS_END_SLOWLY)
    )


def require_batches(strategy, dataset):
    """Refuses a dataset of which there is nothing to share.

    Args:
      strategy: the strategy.
      dataset: what is to be distributed.

    Raises:
      ArgumentError: (a ValueError) its elements are, or have, scalars.
    """
    if not isinstance(dataset, dataset_ops.DatasetV2) or (
        strategy.num_replicas_in_sync == 1 and not versions.ONE_REPLICA_NEEDS_BATCHES
    ):
        return
    spec = _element_spec(dataset)
    shapes = [getattr(leaf, "shape", leaf) for leaf in nests.flatten(spec)]
    if any(isinstance(shape, tf.TensorShape) and shape.ndims == 0 for shape in shapes):
        raise ArgumentError(
            "a dataset whose elements are %s" % (spec,),
            "each element is split among the replicas along its first "
            "dimension, and a scalar has none",
            "dataset.batch(n), with n the examples of a step of all %d "
            "replicas together" % strategy.num_replicas_in_sync,
        )


def _element_spec(dataset):
    """What an element is: specs, or shapes on a release without them."""
    if versions.HAS_ELEMENT_SPEC:
        return dataset.element_spec
    if versions.HAS_OUTPUT_SHAPES:
        return tf.compat.v1.data.get_output_shapes(dataset)
    return dataset.output_shapes
