"""Runs the input pipelines: one per host of the slice, all on one machine."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.distribute import values

from tpudist.errors import ArgumentError
from tpudist.tfcompat import distributed_values, nests, versions
from tpudist.virtual.input import host_iterators
from tpudist.virtual.tpu_check import reports

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DataIterator, DistributedDataset, Extended, Fn, Nest


if versions.HAS_INPUT_LIB:
    from tensorflow.python.data.ops import multi_device_iterator_ops
    from tensorflow.python.distribute import input_lib, numpy_dataset

if versions.ITERATORS_ARE_ARGUMENTS:
    from tpudist.virtual.input import iterators

if versions.LOOPS_ASK_THE_ITERATOR:
    from tpudist.virtual.input import global_batches

#: Whether TensorFlow's distributed datasets lack the ``element_spec`` of per-replica
#: values: from 1.15 to 2.1 they have that of one replica's values, or none.
_LACKS_SPEC = versions.DEVICE_MAP and versions.HAS_ELEMENT_SPEC

#: The option that says whether cores fetch their batches ahead.
_FETCHES_AHEAD = "experimental_%s_to_device" % ("fetch" if versions.FETCHES else "prefetch")


def set_devices(extended: Extended, devices: Any, host: object) -> None:
    """Gives a new `extended` its replica labels, and the CPU on which every pipeline runs."""
    extended._host = host
    extended._inferred_cross_device_ops = None
    extended._is_multi_worker_training = False
    extended._local_mode = True
    if not versions.HAS_INPUT_LIB:
        extended._devices = tuple(devices)
        extended._canonical_device_set = set(devices)
        extended._device_index = values.PerReplica({device: i for i, device in enumerate(devices)})
        return
    extended._host_input_device = numpy_dataset.SingleDevice(host)
    if versions.DEVICE_MAP:
        extended._device_map = _LabelMap(devices)
        size = extended.num_replicas_per_host
        pairs = [(host, devices[i : i + size]) for i in range(0, len(devices), size)]
        extended._input_workers = input_lib.InputWorkers(extended._device_map, pairs)
        extended._input_workers._fed_devices = ((host,) * size,) * extended.num_hosts
    else:
        extended._devices = tuple(devices)
        if not versions.TRACE_ONCE:
            extended._input_workers = workers(extended)


def workers(extended: Extended, options: Any = None) -> object:
    """TensorFlow's ``InputWorkers``: one per host, or per replica if `options` say so."""
    count, replicas = extended.own_hosts or extended.num_hosts, len(extended.worker_devices)
    if options and options.experimental_replication_mode.name == "PER_REPLICA":
        count = replicas
    feeds = (extended._host,) * (replicas // count)
    return input_lib.InputWorkers([(extended._host, feeds)] * count)


def distribute(make: Fn, extended: Extended, dataset: object, *options: Any) -> DistributedDataset:
    """The distributed dataset to use in place of TensorFlow's, ``make(dataset, *options)``."""
    _check_fetched(dataset, *options)
    reports.check_pipeline(extended, dataset)
    if versions.LOOPS_ASK_THE_ITERATOR and global_batches.fits(extended, dataset, *options):
        return global_batches.distribute(extended, dataset)
    return _distributed(extended, make(dataset, *options))


def distribute_from_function(
    make: Fn, extended: Extended, dataset_fn: Fn, *options: Any
) -> DistributedDataset:
    """The distributed dataset to use in place of TensorFlow's, ``make(dataset_fn, *options)``."""
    dataset = make(checked(extended, dataset_fn), *options)
    _check_fetched(dataset, *options)
    return _distributed(extended, dataset)


def checked(extended: Extended, dataset_fn: Fn) -> Fn:
    """Wraps `dataset_fn`: it reports what the hosts of a slice could not do of its dataset."""

    @functools.wraps(dataset_fn)
    def made(*context: Any) -> Nest:
        dataset = dataset_fn(*context)
        reports.check_pipeline(extended, dataset)
        return dataset

    return made


def _distributed(extended: Extended, dataset: Any) -> DistributedDataset:
    """The distributed dataset to use instead of TensorFlow's `dataset`."""
    if versions.ITERATORS_ARE_ARGUMENTS:
        return iterators.convert(dataset)
    if _LACKS_SPEC:
        if isinstance(dataset, input_lib.DistributedDatasetsFromFunction):
            dataset.__class__ = _DatasetsFromFunction
        else:
            dataset.element_spec = element_spec(extended, dataset.element_spec)
    return dataset


def _check_fetched(dataset: Any, options: Any = None) -> None:
    """Refuses sparse and ragged tensors where a TPU would fetch its batches ahead."""
    if not versions.HAS_INPUT_OPTIONS or not (options is None or getattr(options, _FETCHES_AHEAD)):
        return
    for path, spec in nests.flatten_with_paths(iterators.of_one_replica(dataset.element_spec)):
        if isinstance(spec, (tf.SparseTensorSpec, tf.RaggedTensorSpec)):
            raise ArgumentError(
                "Found tensor %s with spec %s in a distributed dataset" % (path, spec),
                "TPUStrategy does not support distributed datasets with device prefetch when "
                "using sparse or ragged tensors: a core's memory holds neither",
                "tf.distribute.InputOptions(%s=False) as the second argument, or "
                "dense tensors" % _FETCHES_AHEAD,
            )


def element_spec(extended: Extended, spec: object) -> Nest:
    """The spec of per-replica values; `spec` describes one replica's values."""
    count = extended._num_replicas_in_sync
    if count == 1:
        return spec
    return nests.map_structure(
        lambda leaf: values.PerReplicaSpec([leaf] * count, extended._device_map, 0), spec
    )


def make_dataset_iterator(make: Fn, extended: Extended, dataset: object) -> DataIterator:
    """The iterator to use in place of TensorFlow's, ``make(dataset)``."""
    if versions.ITERATORS_ARE_ARGUMENTS:
        options = [None] if versions.HAS_INPUT_OPTIONS else []
        return extended._experimental_distribute_dataset(
            dataset, *options
        ).make_initializable_iterator()
    return _read_in_turn(make(dataset))


def make_input_fn_iterator(make: Fn, extended: Extended, input_fn: Fn) -> DataIterator:
    """The iterator to use in place of TensorFlow's, ``make(input_fn)``."""
    input_fn = checked(extended, input_fn)
    if versions.ITERATORS_ARE_ARGUMENTS:
        return iterators.from_input_fn(make, input_fn)
    return _read_in_turn(make(input_fn))


def _read_in_turn(iterator: DataIterator) -> DataIterator:
    """Lets the replicas of each host take from one iterator of its dataset, in a graph.

    At the end of the data TensorFlow's MultiDeviceIterator may wait for ever (seen on 1.15).
    """
    if not versions.HAS_INPUT_LIB or tf.executing_eagerly():
        return iterator
    hosts: Any = iterator
    for host in hosts._iterators:
        native = getattr(host, "_iterator", None)
        if isinstance(native, multi_device_iterator_ops.MultiDeviceIterator):
            with tf.device(host._worker):
                shares = tf.compat.v1.data.make_initializable_iterator(host._dataset)
            host._iterator = host_iterators.Shares(shares, len(host._devices))
    return iterator


if versions.DEVICE_MAP:

    class _LabelMap(values.ReplicaDeviceMap):
        """Maps labels to replicas; a value on the real device belongs to replica 0."""

        def is_device_in_replica(self, device: object, replica_id: int) -> bool:
            return True

        def select_for_device(self, values: Any, device: Any) -> Nest:
            return values[distributed_values.position(self._devices, device)]


if _LACKS_SPEC:

    class _DatasetsFromFunction(input_lib.DistributedDatasetsFromFunction):
        """TensorFlow's class, with iterators that have an ``element_spec``."""

        def __iter__(self) -> DataIterator:
            iterator = super().__iter__()
            spec = iterator._iterators[0]._dataset.element_spec
            if len(iterator._iterators) > 1:
                _require_shapes(spec)
            iterator.element_spec = element_spec(self._strategy.extended, spec)
            return iterator


def _require_shapes(spec: object) -> None:
    """Refuses batches of unknown size: until 2.1 hosts that have rows are told by their device."""
    if not all(leaf.shape.is_fully_defined() for leaf in nests.flatten(spec)):
        raise ArgumentError(
            "batches of no fixed shape from a function, on several hosts: %s" % (spec,),
            "TensorFlow before 2.2 cannot tell when the last of "
            "several hosts on one machine has no rows left",
            "dataset.batch(n, drop_remainder=True)",
        )
