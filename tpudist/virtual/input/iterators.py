"""Makes iterators over distributed datasets, one per host, whose replicas take shares in turn.

From 2.2 on TensorFlow makes one more per replica, which copies its share to its device. On 2.2
each blocks a thread until its share is there, and making that needs a thread too: a function that
reads for as many replicas as there are CPUs waited for ever. From 2.5 on each has a thread that
tunes it, sleeps for up to a minute, and may sleep through its cancellation: destroying the
iterators of 32 replicas took minutes.

TensorFlow's classes still make the shares (rebatched, sharded among hosts, dummies of no rows for
replicas that have none); only the iterators are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.data.ops import iterator_ops
from tensorflow.python.distribute import input_lib, values

from tpudist.tfcompat import distributed_values, functions, nests, versions
from tpudist.virtual.input import host_iterators

if TYPE_CHECKING:
    from typing import Iterable, Iterator, Sequence

    from tpudist.tfcompat.annotations import DataIterator, Fn, Nest


if versions.INPUT_LIB_V1_HAS_MODULE:
    from tensorflow.python.distribute.v1 import input_lib as input_lib_v1
else:
    input_lib_v1 = input_lib


def become(cls: Any, native: object) -> Any:
    """Turns a new `native` object into one of a subclass, as constructors' arguments differ."""
    native.__class__ = cls
    return native


def fill(iterator: object, dataset: object, iterators: object) -> None:
    """Sets what TensorFlow's constructors would of a new `iterator` over our `dataset`."""
    vars(iterator).update({"_options": None}, **vars(dataset), _iterators=iterators)
    _look_for_partial_batches(iterator)


def _look_for_partial_batches(iterator: Any) -> None:
    if not versions.DATASETS_KNOW_PARTIAL_BATCHES:
        input_lib.DistributedIteratorBase.__init__(
            iterator, iterator._input_workers, iterator._iterators, iterator._strategy
        )


def _hosts(workers: Any, iterators: Any) -> Sequence[DataIterator]:
    """TensorFlow's iterators of hosts, with the replicas of each sharing one of `iterators`."""
    hosts = []
    for i, iterator in enumerate(iterators):
        devices = workers.compute_devices_for_worker(i)
        hosts.append(
            input_lib._SingleWorkerOwnedDatasetIterator(
                worker=workers.worker_devices[i],
                devices=devices,
                components=[host_iterators.Shares(iterator, len(devices))],
                element_spec=iterator.element_spec,
            )
        )
    return hosts


def spec_of(native: Any, value_class: Any) -> type[Any]:
    """A subclass of a type spec of TensorFlow's, for values of the class of ``value_class()``."""

    class Spec(native):
        """The spec's values, and the specs it is merged into, are of our classes."""

        __slots__ = ()

        @property
        def value_type(self) -> type[Any]:
            return value_class()

        def _from_components(self, components: object) -> DataIterator:
            return become(value_class(), super()._from_components(components))

        def most_specific_compatible_type(self, other: object) -> object:
            return become(type(self), super().most_specific_compatible_type(other))

        def _with_tensor_ranks_only(self) -> object:
            return become(type(self), super()._with_tensor_ranks_only())

    return Spec


class DistributedIteratorSpec(
    spec_of(input_lib.DistributedIteratorSpec, lambda: DistributedIterator)  # type: ignore[misc]
):
    """Its components are the iterators of the hosts."""

    __slots__ = ()

    @property
    def _component_specs(self) -> list[Any]:
        spec = of_one_replica(self._element_spec)
        return [iterator_ops.IteratorSpec(spec)] * self._input_workers.num_workers

    def _to_components(self, value: Any) -> list[Any]:
        return [host._iterator.iterator for host in value._iterators]

    def _from_components(self, components: object) -> DataIterator:
        return super()._from_components(_hosts(self._input_workers, components))


class DistributedIterator(input_lib.DistributedIterator):
    """Takes the next share of every replica, from the iterators of the hosts."""

    def __init__(self, dataset: Any, iterators: object) -> None:
        fill(self, dataset, _hosts(dataset._input_workers, iterators))

    def get_next(self, name: str | None = None) -> Nest:
        """The next share of each replica, or OutOfRangeError if none has one left."""
        return distributed_values.telling(super().get_next(name))

    @property
    def _type_spec(self) -> object:
        return become(DistributedIteratorSpec, super()._type_spec)


def of_one_replica(spec: object) -> Nest:
    """The nest of specs of one replica's values; `spec` is that of per-replica values."""
    return nests.map_structure(
        lambda leaf: leaf._value_specs[0] if isinstance(leaf, values.PerReplicaSpec) else leaf, spec
    )


def dataset_class(
    native: Any, native_spec: object, of_hosts: Any, ours: Any, in_sessions: Fn
) -> type[Any]:
    """A subclass of TensorFlow's class `native` of distributed datasets, with iterators of ours.

    `native_spec` is the class of its type spec, or None; `of_hosts` names its list of hosts'
    datasets. `ours` makes an iterator, of theirs; `in_sessions` one that a Session initialises.
    """

    class Dataset(native):
        """A distributed dataset with iterators of ours."""

        @property
        def of_hosts(self) -> Sequence[tf.data.Dataset]:
            """The datasets of the hosts."""
            return host_iterators.untuned(getattr(self, of_hosts))

        def __iter__(self) -> DataIterator:
            """Iterates over per-replica values."""
            if functions.in_session_graph():
                raise host_iterators.iterated_in_a_graph()
            with tf.device(self._input_workers.worker_devices[0]):
                return ours(self, list(map(iter, self.of_hosts)))

        def make_initializable_iterator(self, shared_name: str | None = None) -> DataIterator:
            """An iterator that a Session initialises; `shared_name` is unused."""
            return in_sessions(self)

        _make_initializable_iterator = make_initializable_iterator

        def make_one_shot_iterator(self) -> Iterator[Any]:
            """The same as ``iter()``, for code of TensorFlow 1."""
            return iter(self)

        _make_one_shot_iterator = make_one_shot_iterator

        @property
        def _type_spec(self) -> object:
            return become(spec, super()._type_spec)  # until 2.4 there is none

    Dataset.__name__ = native.__name__
    spec = native_spec and spec_of(native_spec, lambda: Dataset)
    return Dataset


def _one_iterator_per_host(native: object, native_spec: object, of_hosts: object) -> type[Any]:
    return dataset_class(
        native, native_spec, of_hosts, DistributedIterator, lambda dataset: SessionIterator(dataset)
    )


class _DatasetsFromFunction(input_lib.DistributedDatasetsFromFunction):
    """TensorFlow's class of 2.2, whose function makes datasets for each iterator."""

    @property
    def _datasets(self) -> Sequence[tf.data.Dataset]:
        datasets = []
        for device, context in zip(self._input_workers.worker_devices, self._input_contexts):
            with tf.device(device):
                datasets.append(self._dataset_fn(context))
        self._element_spec = input_lib._create_distributed_tensor_spec(
            self._strategy, datasets[-1].element_spec
        )
        return datasets


DistributedDataset = _one_iterator_per_host(
    input_lib.DistributedDataset,
    input_lib.DistributedDatasetSpec if versions.DATASETS_ARE_ARGUMENTS else None,
    "_cloned_datasets",
)
DistributedDatasetsFromFunction = _one_iterator_per_host(
    input_lib.DistributedDatasetsFromFunction
    if versions.DATASET_FUNCTIONS_ARE_CALLED_ONCE
    else _DatasetsFromFunction,
    input_lib.DistributedDatasetsFromFunctionSpec if versions.DATASETS_ARE_ARGUMENTS else None,
    "_datasets",
)


class SessionIterator(input_lib_v1.DistributedIteratorV1):
    """Takes the next share of every replica; a Session, or eager code, initialises it."""

    def __init__(self, dataset: Any) -> None:
        workers = dataset._input_workers
        hosts = [
            _SessionHost(one, workers.worker_devices[i], workers.compute_devices_for_worker(i))
            for i, one in enumerate(dataset.of_hosts)
        ]
        fill(self, dataset, hosts)


class _SessionHost(input_lib_v1._SingleWorkerDatasetIterator):
    """The iterator of one host, which a Session initialises."""

    def _make_iterator(self) -> None:
        make = iter if tf.executing_eagerly() else tf.compat.v1.data.make_initializable_iterator
        with tf.device(self._worker):
            self._iterator = host_iterators.Shares(make(self._dataset), len(self._devices))

    def initialize(self) -> list[Any]:
        """The ops that (re)start it; in eager mode it is restarted at once, in functions too."""
        if not tf.compat.v1.executing_eagerly_outside_functions():
            return [self._iterator.initializer]
        self._iterator.restart()
        return []


def convert(dataset: object) -> Iterable[Any]:
    """TensorFlow's distributed `dataset` as one of our classes."""
    of_batches = isinstance(dataset, input_lib.DistributedDataset)
    return become(DistributedDataset if of_batches else DistributedDatasetsFromFunction, dataset)


def from_input_fn(make: Fn, input_fn: Fn) -> DataIterator:
    """TensorFlow's ``make(input_fn)`` with one iterator per host, of a dataset or a function."""
    sources: list[Any] = []  # of each host what `input_fn` returned: a dataset or a function

    def without_datasets(context: object) -> type[Any]:
        sources.append(input_fn(context))
        return tuple if _is_dataset(sources[-1]) else sources[-1]

    iterator = make(without_datasets)
    if all(map(_is_dataset, sources)):
        sources[:] = host_iterators.untuned(sources)
    iterator._iterators = [
        _SessionHost(source, host._worker, host._devices) if _is_dataset(source) else host
        for source, host in zip(sources, iterator._iterators)
    ]
    _look_for_partial_batches(iterator)
    return iterator


def _is_dataset(value: object) -> bool:
    return isinstance(value, tf.data.Dataset)
