"""Distributed datasets with one iterator per host.

TensorFlow makes one ``tf.data`` iterator per host and one more per replica,
which copies the replica's share to its device. From 2.5 on each of them has a
thread that tunes it, and destroying an iterator waits for its thread. The
thread sleeps for up to a minute, and may sleep through its cancellation:
``CancellationManager::StartCancel`` wakes it before it sets the cancelled flag.
Destroying the iterators of 32 replicas took minutes, in ``Session.close()`` or
at the end of a loop.

Here all replicas live on one device, and take their shares from the iterator
of their host in turn. TensorFlow's classes still make the shares (rebatched,
sharded among hosts, dummies of no rows for replicas that have none); only the
iterators are ours.
"""

import functools

import tensorflow as tf
from tensorflow.python.distribute import input_lib

from tpudist.tfcompat import functions, versions
from tpudist.virtual.input import eager_shares, host_iterators

if versions.INPUT_LIB_V1_HAS_MODULE:
    from tensorflow.python.distribute.v1 import input_lib as input_lib_v1
else:
    input_lib_v1 = input_lib


def become(cls, made):
    """`made`, which TensorFlow has just made, as an object of a subclass.

    The arguments of TensorFlow's constructors differ from release to release;
    the attributes do not.
    """
    made.__class__ = cls
    return made


def _share(iterator):
    """`iterator`, whose replicas now share the iterator of their host."""
    for host in iterator._iterators:
        host._iterator = host_iterators.Shares(host._iterator, len(host._devices))
        host._options = None  # so that a list of shares is expected of it
    return become(DistributedIterator, iterator)


def spec_of(native, value_class):
    """A subclass of a type spec, for values of another class.

    Args:
      native: the class of TensorFlow's type spec.
      value_class: returns the class of the values.
    """

    class Spec(native):
        """The spec's values, and the specs it is merged into, are of our classes."""

        __slots__ = ()

        @property
        def value_type(self):
            return value_class()

        def _from_components(self, components):
            return become(value_class(), super()._from_components(components))

        def most_specific_compatible_type(self, other):
            return become(type(self), super().most_specific_compatible_type(other))

        def _with_tensor_ranks_only(self):
            return become(type(self), super()._with_tensor_ranks_only())

    return Spec


class DistributedIteratorSpec(
    spec_of(input_lib.DistributedIteratorSpec, lambda: DistributedIterator)
):
    """Its components are the iterators of the hosts."""

    __slots__ = ()

    @property
    def _component_specs(self):
        return [spec for host in super()._component_specs for spec in host._component_specs]

    def _to_components(self, value):
        return [host._iterator.iterator for host in value._iterators]

    def _from_components(self, components):
        hosts = zip(super()._component_specs, components)
        return _share(
            super()._from_components(
                [host._from_components([component]) for host, component in hosts]
            )
        )


class DistributedIterator(input_lib.DistributedIterator):
    """Takes the next share of every replica."""

    def get_next(self, name=None):
        """The next share of each replica.

        Context: cross-replica; eager or ``tf.function``.

        Raises:
          ValueError: in replica context.
          OutOfRangeError: no replica has a share left.
        """
        batch = eager_shares.next_batch(self)
        return super().get_next(name) if batch is None else batch

    @property
    def _type_spec(self):
        return become(DistributedIteratorSpec, super()._type_spec)


def dataset_class(native, native_spec, ours, in_sessions):
    """A subclass of a class of distributed datasets, with iterators of ours.

    Args:
      native: TensorFlow's class.
      native_spec: the class of its type spec, TensorFlow's or a subclass.
      ours: makes an iterator of ours of one of TensorFlow's.
      in_sessions: makes a dataset's iterator that a Session initialises.
    """

    class Dataset(native):
        """A distributed dataset with iterators of ours."""

        def __iter__(self):
            """Iterates over per-replica values.

            Context: eager or ``tf.function``.

            Raises:
              ContextError: (a RuntimeError) in a graph.
            """
            if functions.in_graph() and not functions.in_function():
                raise host_iterators.iterated_in_a_graph()
            return ours(super().__iter__())

        def make_initializable_iterator(self, shared_name=None):
            """An iterator that a Session initialises; `shared_name` is unused."""
            return in_sessions(self)

        _make_initializable_iterator = make_initializable_iterator

        @property
        def _type_spec(self):
            return become(spec, super()._type_spec)

    Dataset.__name__ = native.__name__
    spec = spec_of(native_spec, lambda: Dataset)
    return Dataset


def _one_iterator_per_host(native, native_spec):
    return dataset_class(native, native_spec, _share, lambda dataset: SessionIterator(dataset))


DistributedDataset = _one_iterator_per_host(
    input_lib.DistributedDataset, input_lib.DistributedDatasetSpec
)
DistributedDatasetsFromFunction = _one_iterator_per_host(
    input_lib.DistributedDatasetsFromFunction, input_lib.DistributedDatasetsFromFunctionSpec
)


class SessionIterator(input_lib_v1.DistributedIteratorV1):
    """Takes the next share of every replica; a Session initialises it.

    In eager mode it starts at the first element, and can be initialised again.

    Args:
      dataset: one of our distributed datasets.
    """

    def __init__(self, dataset):
        vars(self).update(vars(dataset))  # all that TensorFlow would copy
        workers = self._input_workers
        self._iterators = [
            _SessionHost(each, workers.worker_devices[i], workers.compute_devices_for_worker(i))
            for i, each in enumerate(dataset._type_spec._to_components(dataset))
        ]


class _SessionHost(input_lib_v1._SingleWorkerDatasetIterator):
    """The iterator of one host, which a Session initialises."""

    def _make_iterator(self):
        make = iter if tf.executing_eagerly() else tf.compat.v1.data.make_initializable_iterator
        with tf.device(self._worker):
            self._iterator = host_iterators.Shares(make(self._dataset), len(self._devices))

    def initialize(self):
        """The ops that (re)start it; in eager mode it is restarted at once."""
        if not tf.executing_eagerly():
            return [self._iterator.initializer]
        self._make_iterator()
        return []


@functools.lru_cache(None)
def as_it_is():
    """Options with which TensorFlow iterates over a host's dataset as it is."""
    mode = tf.distribute.InputReplicationMode.PER_REPLICA
    return tf.distribute.InputOptions(
        experimental_replication_mode=mode, experimental_fetch_to_device=False
    )


def distributed(dataset):
    """TensorFlow's distributed `dataset` as one of our classes."""
    made, hosts = (
        (DistributedDataset, "_cloned_datasets")
        if isinstance(dataset, input_lib.DistributedDataset)
        else (DistributedDatasetsFromFunction, "_datasets")
    )
    dataset._options = as_it_is()
    setattr(dataset, hosts, host_iterators.untuned(getattr(dataset, hosts)))
    return become(made, dataset)


def from_input_fn(make, input_fn):
    """The iterator that ``make(input_fn)`` makes, with one iterator per host.

    Args:
      make: TensorFlow's ``_make_input_fn_iterator``.
      input_fn: ``input_fn(InputContext)`` returns a dataset, or a function
        that returns the next share.
    """
    found = []

    def without_datasets(context):
        found.append(input_fn(context))
        return tuple if _is_dataset(found[-1]) else found[-1]

    made = make(without_datasets)
    if all(map(_is_dataset, found)):
        found = host_iterators.untuned(found)
    made._iterators = [
        _SessionHost(each, host._worker, host._devices) if _is_dataset(each) else host
        for each, host in zip(found, made._iterators)
    ]
    return made


def _is_dataset(value):
    return isinstance(value, tf.data.Dataset)
