"""Datasets of batches that are distributed to hosts and replicas, as in 2.x.

Reference: ``experimental_distribute_dataset`` and
``experimental_distribute_datasets_from_function``. TensorFlow's own classes are used where the
release has them; the classes here are for Sessions, for uneven batches, and for older releases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.errors import ArgumentError, ContextError
from tpudist.input import per_replica_datasets
from tpudist.strategy import base_classes
from tpudist.tfcompat import distributed, functions, nests, versions
from tpudist.virtual.input import host_iterators

if TYPE_CHECKING:
    from tpudist.annotations import Dataset, InputFn, Options, Strategy
    from tpudist.tfcompat.annotations import DataIterator, DistributedDataset, Nest, Session, Shape


def of_batches(
    strategy: Strategy, dataset: Dataset, options: Options, for_sessions: bool
) -> DistributedDataset:
    """TensorFlow's distributed dataset of global batches.

    One `for_sessions` has iterators that a Session initialises, which it cannot with those of
    TensorFlow's class.
    """
    if for_sessions:
        return GraphDataset(lambda: strategy.extended._make_dataset_iterator(dataset))
    return base_classes.native(strategy).experimental_distribute_dataset(
        dataset, **_keywords(options)
    )


def of_function(
    strategy: Strategy,
    dataset_fn: InputFn,
    options: Options,
    hosts: Sequence[str],
    for_sessions: bool,
) -> DistributedDataset:
    """A dataset of the per-replica batches of ``dataset_fn(InputContext)``, called once a host."""
    if not versions.HAS_DATASETS_FROM_FUNCTION:
        return FunctionDataset(strategy, dataset_fn, hosts)
    if for_sessions:
        return GraphDataset(lambda: strategy.extended._make_input_fn_iterator(dataset_fn))
    name = (
        "distribute_datasets_from_function"
        if versions.DATASETS_FROM_FUNCTION_RENAMED
        else "experimental_distribute_datasets_from_function"
    )
    return getattr(base_classes.native(strategy), name)(dataset_fn, **_keywords(options))


def _keywords(options: Options) -> dict[str, Any]:
    """The keyword arguments for TensorFlow's methods, which took no options before 2.3."""
    return {} if options is None or not versions.HAS_INPUT_OPTIONS else {"options": options}


def make_numpy_dataset(
    strategy: Strategy, numpy_input: Any, session: Any = None
) -> tf.data.Dataset[Any]:
    """A ``tf.data.Dataset`` of the rows of arrays, held in variables on the host.

    Context: cross-replica; in a graph, `session` initialises the variables.
    """
    if session is None and not tf.executing_eagerly():
        session = default_session("experimental_make_numpy_dataset")
    if not versions.HAS_INPUT_LIB:
        return tf.data.Dataset.from_tensor_slices(numpy_input)
    with strategy.scope():
        return strategy.extended.experimental_make_numpy_dataset(numpy_input, session=session)


class GraphDataset:
    """A distributed dataset in a TF 1 graph.

    ``tf.compat.v1.data.make_initializable_iterator`` gets iterators from it that a Session
    initialises.
    """

    def __init__(self, make_iterator: Any) -> None:
        self._make_iterator = make_iterator

    def make_initializable_iterator(self, shared_name: str | None = None) -> DataIterator:
        """An iterator over per-replica values; `shared_name` is unused."""
        return self._make_iterator()

    _make_initializable_iterator = make_initializable_iterator

    def __iter__(self) -> Any:
        """Refuses a loop over the elements, which a graph does not have."""
        raise host_iterators.iterated_in_a_graph()


class FunctionDataset(per_replica_datasets.PerReplicaDataset):
    """A dataset of per-replica batches of ``dataset_fn(InputContext)``, called once per host."""

    def __init__(self, strategy: Strategy, dataset_fn: InputFn, hosts: Sequence[str]) -> None:
        contexts = iter(
            [
                tf.distribute.InputContext(
                    num_input_pipelines=len(hosts),
                    input_pipeline_id=host,
                    num_replicas_in_sync=strategy.num_replicas_in_sync,
                )
                for host in range(len(hosts))
            ]
        )
        super().__init__(strategy, lambda: dataset_fn(next(contexts)), hosts)

    def iterator(self) -> Any:
        """The iterator of ``make_input_fn_iterator``."""
        return iter(self) if tf.executing_eagerly() else self.make_initializable_iterator()

    def _make_initializable_iterator(self, shared_name: str | None = None) -> DataIterator:
        return self.make_initializable_iterator(shared_name)

    def __iter__(self) -> Any:
        """Iterates over per-replica values."""
        refuse_in_a_graph()
        plain: Any = super().__iter__()
        return FunctionIterator(self._strategy, plain._iterators, plain._hosts)


class FunctionIterator(per_replica_datasets.PerReplicaIterator):
    """Gives no rows to replicas when the elements run out."""

    def get_next(self, name: str | None = None) -> Nest:
        """See the base class.

        Raises:
          tf.errors.OutOfRangeError: there is no element for any replica.
        """
        if not tf.executing_eagerly():
            return super().get_next(name)
        strategy, elements = self._strategy, []
        first: list[Any] = []
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
            nests.map_structure(lambda leaf: leaf[:0], first[0]) if part is None else part
            for host in range(len(self._hosts))
            for part in elements[host :: len(self._hosts)]
        ]
        return distributed.regroup(strategy.extended, parts)


def refuse_in_a_graph() -> None:
    """Refuses to iterate over a distributed dataset anywhere but in eager mode."""
    if functions.in_function():
        raise ContextError(
            "a distributed dataset was iterated over in a tf.function",
            "this TensorFlow's AutoGraph would unroll the loop for ever",
            "iterator = iter(dataset) before the function is called, and next(iterator) in it",
        )
    if not tf.executing_eagerly():
        raise host_iterators.iterated_in_a_graph()


def default_session(method: str) -> Session:
    """The current Session; may be None in a ``tf.function``, which needs none."""
    session = tf.compat.v1.get_default_session()
    if session is None and not functions.in_function():
        raise ContextError(
            "%s() was called in a graph without a Session" % method,
            "the arrays go into variables, which a Session initialises",
            "with session.as_default(): ... %s(...)" % method,
        )
    return session


def require_batches(strategy: Strategy, dataset: Dataset) -> None:
    """Refuses a dataset whose elements cannot be split among replicas."""
    if not isinstance(dataset, functions.DatasetV2) or (
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


def _element_spec(dataset: Dataset) -> Nest:
    """The specs of an element, a nest; its shapes on a release without specs."""
    return dataset.element_spec if versions.HAS_ELEMENT_SPEC else shapes_of(dataset)


def shapes_of(dataset: Dataset) -> Nest:
    """The shapes of the elements of a dataset, a nest."""
    if versions.HAS_OUTPUT_SHAPES:
        return tf.compat.v1.data.get_output_shapes(dataset)
    return dataset.output_shapes


class SplitDataset:
    """A dataset of global batches, each cut into one part per replica.

    No example is lost: the last batch may be cut unevenly, down to no rows.
    """

    def __init__(self, strategy: Strategy, dataset: Dataset, hosts: Sequence[str]) -> None:
        self._strategy = strategy
        self._dataset = dataset
        self._hosts = hosts

    def iterator(self) -> Any:
        """The iterator of ``make_dataset_iterator``."""
        return iter(self) if tf.executing_eagerly() else self.make_initializable_iterator()

    def make_initializable_iterator(self, shared_name: str | None = None) -> DataIterator:
        """A `SplitIterator` to be initialised in a Session."""
        return SplitIterator(
            self._strategy,
            functions.initializable_iterator(self._dataset, shared_name),
            self._hosts,
        ).restartable()

    _make_initializable_iterator = make_initializable_iterator

    def __iter__(self) -> Any:
        """Iterates over per-replica values."""
        refuse_in_a_graph()
        return SplitIterator(self._strategy, iter(self._dataset), self._hosts)


def needs_split(strategy: Strategy, dataset: Dataset) -> bool:
    """Whether TensorFlow's own distributed dataset cannot be used."""
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
    """Takes a global batch at a time and cuts it, on the first host."""

    def __init__(self, strategy: Strategy, iterator: Any, hosts: Sequence[str]) -> None:
        super().__init__(strategy, [iterator], hosts[:1])

    @property
    def output_shapes(self) -> Nest:
        """The shapes of a replica's share, for Keras of 1.13."""
        count = self._strategy.num_replicas_in_sync

        def share(shape: Any) -> Shape:
            rows = shape.as_list()[0] if shape.ndims else None
            part = None if rows is None or rows % count else rows // count
            return tf.TensorShape([part]).concatenate(shape[1:])

        return nests.map_structure(share, self._iterators[0].output_shapes)

    def get_next(self, name: str | None = None) -> Nest:
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


def _part(leaf: Any, index: int, count: int) -> Nest:
    """Rows of `leaf` for replica `index` of `count`; the first replicas get more."""
    size = leaf.shape.as_list()[0] if leaf.shape.ndims else None
    if size is None:
        size = tf.shape(leaf)[0]
    each = (size + count - 1) // count
    return leaf[index * each : (index + 1) * each]
