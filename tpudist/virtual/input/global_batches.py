"""Distributes datasets with one pipeline: replicas take their rows of the same global batch.

If TensorFlow cannot shard the files of a dataset among the hosts, each host makes all batches and
keeps its own pieces: of four hosts the first keeps 0, 4, 8... All hosts here are one machine: 256
would make every batch 256 times, each shuffled in another way. They are made once, and divided as
TensorFlow divides them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.data.experimental.ops import cardinality
from tensorflow.python.distribute import input_lib

from tpudist.tfcompat import distributed, distributed_values, nests
from tpudist.virtual.input import iterators

if TYPE_CHECKING:
    from typing import Iterable

    from tpudist.tfcompat.annotations import Extended, Nest


#: Parts of the names of ops and classes of datasets that read files. TensorFlow shards the
#: files among the hosts if it can (auto_shard.cc, r2.5: kReaderDatasetOps).
_READERS = ("record", "textline", "sstable", "parquet", "csv", "sql", "files")

#: Classes of datasets with no input that read no file.
_SOURCES = frozenset(
    "TensorDataset TensorSliceDataset SparseTensorSliceDataset GeneratorDataset "
    "RangeDataset".split()
)


def fits(extended: Extended, dataset: Any, options: Any = None) -> bool:
    """Whether replicas can take their rows of the same global batches, on every host."""
    if extended._num_replicas_in_sync == 1 or extended.own_hosts:
        return False
    if options is not None and options.experimental_replication_mode.name == "PER_REPLICA":
        return False
    specs = nests.flatten(getattr(dataset, "element_spec", None))
    if not specs or not all(type(spec) is tf.TensorSpec and spec.shape.rank for spec in specs):
        return False
    if any(spec.dtype in (tf.resource, tf.variant) for spec in specs):
        return False
    if extended.num_hosts == 1:
        return _is_even(specs, extended._num_replicas_in_sync)
    # Whether TensorFlow would shard batches, not files, among the hosts.
    policy = dataset.options().experimental_distribute.auto_shard_policy
    name = getattr(policy, "name", "AUTO")
    return name == "DATA" or name == "AUTO" and not _may_read_files(dataset)


def _is_even(specs: Any, count: int) -> bool:
    """Whether batches of these specs divide into parts of one size."""
    if not all(spec.shape.is_fully_defined() for spec in specs):
        return False
    rows = {spec.shape.as_list()[0] for spec in specs}
    return len(rows) == 1 and 0 not in rows and rows.pop() % count == 0


def _may_read_files(dataset: Any) -> bool:
    adapted = getattr(dataset, "_dataset", None)
    if isinstance(adapted, tf.data.Dataset):  # a dataset of TensorFlow 1
        return _may_read_files(adapted)
    name = type(dataset).__name__
    if any(reader in name.lower() for reader in _READERS):
        return True
    if any(_reads_files(wrapper.function) for wrapper in dataset._functions()):
        return True
    try:
        inputs = dataset._inputs()
    except NotImplementedError:
        return True
    if not inputs:
        return name.lstrip("_") not in _SOURCES
    return any(map(_may_read_files, inputs))


def _reads_files(function: object) -> bool:
    """Whether an op of the function, or of one that it calls, is a dataset of files."""
    graph = getattr(function, "graph", None)
    if graph is None:  # made by `map_with_legacy_function`
        return True
    graph_def = graph.as_graph_def()
    nodes = [*graph_def.node, *(n for f in graph_def.library.function for n in f.node_def)]
    datasets = [node.op.lower() for node in nodes if "dataset" in node.op.lower()]
    return any(reader in op for op in datasets for reader in _READERS)


def distribute(extended: Extended, dataset: Any) -> Iterable[Any]:
    """The distributed dataset of a `dataset` of global batches that :func:`fits`."""
    count = extended._num_replicas_in_sync
    distributed_dataset = input_lib.DistributedDataset(
        dataset=dataset,
        input_workers=input_lib.InputWorkers([(extended._host, (extended._host,) * count)]),
        strategy=extended._container_strategy(),
        num_replicas_in_sync=count,
    )
    with tf.device(extended._host):
        distributed_dataset._cloned_datasets = [dataset.prefetch(1)]
    return iterators.become(DistributedDataset, distributed_dataset)


def _whole(spec: Any) -> Nest:
    """The spec of a global batch, of `spec`, a nest, which describes per-replica values."""

    def whole(leaf: Any) -> object:
        parts = leaf._value_specs
        shape = parts[0].shape
        if shape.rank is not None:
            rows, *rest = shape.as_list()
            shape = [None if rows is None else len(parts) * rows, *rest]
        return tf.TensorSpec(shape, parts[0].dtype)

    return nests.map_structure(whole, spec)


def _takes_global_batches(native: Any) -> type[Any]:
    """A subclass of a class of iterators over per-replica values, each of one global batch."""

    class Iterator(native):
        """Takes the rows of every replica."""

        @property
        def _global_batches(self) -> Any:
            (host,) = self._iterators
            return host._iterator.iterator if hasattr(host, "_iterator") else host

        def get_next(self, name: str | None = None) -> Nest:
            """The rows of each replica of the next global batch, or OutOfRangeError."""
            if tf.distribute.has_strategy() and not tf.distribute.in_cross_replica_context():
                return super().get_next(name)  # TensorFlow raises an error
            return distributed_values.telling(self._divided(self._global_batches.get_next()))

        def get_next_as_optional(self) -> Nest:
            """The same as a ``tf.experimental.Optional``, which is empty at the end."""
            if getattr(self, "_cardinality", None) == cardinality.INFINITE:
                return tf.experimental.Optional.from_value(self.get_next())
            batch = self._global_batches.get_next_as_optional()
            return tf.cond(
                batch.has_value(),
                lambda: tf.experimental.Optional.from_value(self._divided(batch.get_value())),
                lambda: tf.experimental.Optional.empty(self._element_spec),
            )

        def _divided(self, batch: object) -> Nest:
            extended = self._strategy.extended
            with tf.device(extended._host):
                return nests.map_structure(
                    lambda spec, leaf: _divide(extended, spec._value_specs[0].shape, leaf),
                    self._element_spec,
                    batch,
                )

    return Iterator


def _divide(extended: Extended, shape: Any, leaf: object) -> Nest:
    """The per-replica value of a global batch; `shape` is the static shape of a replica's rows."""
    if not shape.is_fully_defined():
        return _pieces(extended, leaf)
    hosts, rows = extended.num_hosts, shape.as_list()
    if hosts > 1:
        pieces = tf.reshape(leaf, [extended.num_replicas_per_host, hosts, *rows])
        by_host = tf.transpose(pieces, [1, 0, *range(2, len(rows) + 2)])
        leaf = tf.reshape(by_host, [extended._num_replicas_in_sync * rows[0], *rows[1:]])
    return distributed.per_replica(extended, tf.split(leaf, extended._num_replicas_in_sync))


def _pieces(extended: Extended, leaf: Any) -> Nest:
    """Divides the rows of `leaf` as TensorFlow does: the last replicas may get fewer, or none."""
    count, hosts = extended._num_replicas_in_sync, extended.num_hosts
    # Hides the number of rows: a piece's type does not depend on it.
    leaf = tf.compat.v1.placeholder_with_default(leaf, [None, *leaf.shape[1:]])
    size = tf.shape(leaf)[0]
    piece = -(-size // count)
    sizes = tf.clip_by_value(size - piece * tf.range(count), 0, piece)
    parts = tf.split(leaf, sizes, num=count)
    for part in parts:
        part.set_shape([None, *leaf.shape[1:]])
    return distributed.per_replica(
        extended, [part for host in range(hosts) for part in parts[host::hosts]]
    )


class DistributedIteratorSpec(
    iterators.spec_of(input_lib.DistributedIteratorSpec, lambda: DistributedIterator)  # type: ignore[misc]
):
    """Its component is the iterator over global batches."""

    __slots__ = ()

    @property
    def _component_specs(self) -> list[Any]:
        return [tf.data.IteratorSpec(_whole(self._element_spec))]


class DistributedIterator(
    _takes_global_batches(input_lib.DistributedIterator)  # type: ignore[misc]
):
    """Takes the rows of every replica."""

    def __init__(self, dataset: object, of_hosts: object) -> None:
        iterators.fill(self, dataset, of_hosts)

    @property
    def _type_spec(self) -> object:
        return iterators.become(DistributedIteratorSpec, super()._type_spec)


class _DatasetSpec(input_lib.DistributedDatasetSpec):
    """Its component is the dataset of global batches."""

    __slots__ = ()

    @property
    def _component_specs(self) -> list[Any]:
        return [tf.data.DatasetSpec(_whole(self._element_spec))]

    def _from_components(self, components: object) -> object:
        dataset = object.__new__(DistributedDataset)  # the native constructor takes pieces
        names = ("_input_workers", "_element_spec", "_strategy", "_options")
        vars(dataset).update({name: getattr(self, name) for name in names})
        vars(dataset).update(
            _cardinality=getattr(self, "_cardinality", None),
            _enable_get_next_as_optional=self._enable_get_next_as_optional,
            _replica_order=None,
            _cloned_datasets=components,
            _built=True,
        )
        return dataset


DistributedDataset = iterators.dataset_class(
    input_lib.DistributedDataset,
    _DatasetSpec,
    "_cloned_datasets",
    DistributedIterator,
    lambda dataset: SessionIterator(dataset),
)


class SessionIterator(
    _takes_global_batches(iterators.SessionIterator)  # type: ignore[misc]
):
    """Takes the rows of every replica; a Session initialises it."""
