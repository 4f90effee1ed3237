"""Calls the input functions of a TPUEstimator and gives each replica its batches.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUConfig.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import tensorflow as tf

from tpudist import adapter
from tpudist.backends import strategies
from tpudist.errors import ArgumentError, ContextError
from tpudist.tfcompat import distributed, functions, nests
from tpudist.virtual.input import host_iterators
from tpudist.virtual.tpu_check import reports

if TYPE_CHECKING:
    from tpudist.annotations import Dataset, Fn, Session
    from tpudist.tfcompat.annotations import Nest, Operation, Strategy, Tensor

#: The values of ``InputPipelineConfig``.
PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED = 1, 2, 3, 4, 5

_train = tf.compat.v1.train
_SessionRunHook: Any = _train.SessionRunHook


class Feeding(NamedTuple):
    """Says how many calls of the input function feed which replicas, with which batch size.

    `mode` is a value of ``InputPipelineConfig``; a step has `global_batch_size` examples.
    """

    mode: int
    num_replicas: int
    num_hosts: int
    global_batch_size: int

    @property
    def num_calls(self) -> int:
        """Number of calls of the input function: one a core, one a host, or one in all."""
        counts = {PER_SHARD_V1: self.num_replicas, BROADCAST: 1, SLICED: 1}
        return counts.get(self.mode, self.num_hosts)

    @property
    def replicas_per_call(self) -> int:
        """Number of replicas that the result of one call feeds."""
        return self.num_replicas // self.num_calls

    @property
    def splits_batches(self) -> bool:
        """Whether a batch is split among replicas; else each replica takes whole batches."""
        return self.mode in (PER_HOST_V1, SLICED)

    @property
    def input_fn_batch_size(self) -> int:
        """``params["batch_size"]`` of the input function."""
        if self.splits_batches:
            return self.global_batch_size // self.num_calls
        return self.model_fn_batch_size

    @property
    def model_fn_batch_size(self) -> int:
        """``params["batch_size"]`` of the model function: examples of a replica."""
        if self.mode == BROADCAST:
            return self.global_batch_size
        return self.global_batch_size // self.num_replicas


def feeding(strategy: Strategy, mode: int, global_batch_size: int, argument: str) -> Feeding:
    """Decides how the replicas of a strategy are fed; `argument` names the size in errors."""
    num_replicas, num_hosts = adapter.num_replicas(strategy), adapter.num_hosts(strategy)
    if global_batch_size % num_replicas:
        raise ArgumentError(
            "%s=%d on a TPU of %d replicas" % (argument, global_batch_size, num_replicas),
            "it is the batch of all replicas, and each takes the same share of it",
            "%s=%d" % (argument, -(-global_batch_size // num_replicas) * num_replicas),
        )
    return Feeding(mode, num_replicas, min(num_hosts, num_replicas), global_batch_size)


class TPUContext:
    """Describes the TPU to input and model functions, as ``params["context"]``.

    `call` says which call of the input function this is; None in a model function.
    """

    def __init__(self, strategy: Strategy, plan: Feeding, call: int | None = None) -> None:
        self._strategy = strategy
        self._feeding = plan
        self._call = call

    def current_input_fn_deployment(self) -> tuple[str, int, int, int]:
        """Says what this call of the input function feeds (r1.15).

        Returns:
          The host's device, which call it is, how many calls there are, and how many
          replicas this one feeds.

        Raises:
          ContextError: (a RuntimeError) called from a model function.
        """
        if self._call is None:
            raise ContextError(
                "current_input_fn_deployment() in a model function",
                "it tells an input function which part of the input to return",
                "params['context'].num_replicas",
            )
        plan = self._feeding
        host = self._call * plan.num_hosts // plan.num_calls
        device = adapter.host_device(self._strategy, host)
        return device, self._call, plan.num_calls, plan.replicas_per_call

    @property
    def num_replicas(self) -> int:
        """Number of replicas in all (r1.15)."""
        return self._feeding.num_replicas

    @property
    def num_hosts(self) -> int:
        """Number of hosts of the slice (r1.15)."""
        return self._feeding.num_hosts

    @property
    def current_host(self) -> int | None:
        """The number of this call of the input function (r1.15)."""
        return self._call

    @property
    def num_of_replicas_per_host(self) -> int:
        """Number of replicas that a host feeds (r1.15)."""
        return self._feeding.num_replicas // self._feeding.num_hosts

    def device_for_replica(self, replica_id: int) -> tuple[str, int]:
        """The CPU device of a replica's host, and the replica's number there (r1.15)."""
        host, number = divmod(replica_id, self.num_of_replicas_per_host)
        return adapter.host_device(self._strategy, host), number

    @property
    def tpu_host_placement_function(self) -> Fn:
        """A function from a host's number to its CPU device (r1.15)."""
        return lambda host_id=0: adapter.host_device(self._strategy, host_id)


class Infeed:
    """An iterator over the batches of all replicas, for a loop of steps.

    ``input_fn(TPUContext)`` returns a dataset, or features and labels; along the dimensions
    `batch_axis` of these a batch is split, by default the first.
    """

    def __init__(
        self,
        strategy: Strategy,
        plan: Feeding,
        input_fn: Callable[[TPUContext], Any],
        batch_axis: Any = None,
    ) -> None:
        self._strategy = strategy
        self._feeding = plan
        self._batch_axis = batch_axis
        self._initializers: list[Operation] = []
        self._own = distributed.local_replicas(strategy.extended)
        calls = sorted({replica // plan.replicas_per_call for replica in self._own})
        self._first = calls[0] * plan.replicas_per_call
        with tf.device("/device:CPU:0"):
            inputs = [input_fn(TPUContext(strategy, plan, number)) for number in calls]
        self._sources = self._start(inputs)

    def _start(self, inputs: list[Any]) -> list[Callable[[], Nest]]:
        """Returns a ``get_next()`` for what each call of the input function returned."""
        if not isinstance(inputs[0], functions.DatasetV2):
            return [queue_batches(tensors) for tensors in inputs]
        iterators = [
            functions.initializable_iterator(dataset, None)
            for dataset in host_iterators.untuned([self._prepare(dataset) for dataset in inputs])
        ]
        self._initializers += [iterator.initializer for iterator in iterators]
        return [iterator.get_next for iterator in iterators]

    def _prepare(self, dataset: Dataset) -> Dataset:
        """Returns the dataset to iterate over instead of the input function's."""
        return dataset

    def hook(self) -> InitializerHook:
        """Returns the hook that starts the datasets' iterators."""
        return InitializerHook(self._initializers)

    def get_next(self) -> Nest:
        """Takes the next batch of every replica, (features, labels) or (features,)."""
        batches = [batch for source in self._sources for batch in self._batches(source)]
        batches = batches[self._own.start - self._first :][: len(self._own)]
        elements = [batch if batch[1] is not None else batch[:1] for batch in batches]
        require_static(elements[0])
        if strategies.backend_of(self._strategy).system is not None:
            reports.check_infeed(elements[0])
        if len(elements) == 1:
            return elements[0]
        return distributed.regroup(self._strategy.extended, elements)

    def _batches(self, source: Callable[[], Nest]) -> list[tuple[Nest, Nest]]:
        """Returns (features, labels) of each replica that a call of the input function feeds."""
        count = self._feeding.replicas_per_call
        if self._feeding.mode == BROADCAST:
            return [features_and_labels(source())] * count
        if not self._feeding.splits_batches:
            return [features_and_labels(each) for each in host_iterators.take(source, count)]
        features, labels = features_and_labels(source())
        require_static((features, labels))
        axes = self._batch_axis or (0, 0)
        return list(zip(_split(features, count, axes[0]), _split(labels, count, axes[-1])))


class PaddedInfeed(Infeed):
    """The infeed of a prediction: the last batch is padded, and batches of padding follow.

    All batches have one size, which a TPU needs, and the infeed never ends. The labels of a
    batch are a mask: which of its rows are the user's.
    """

    def _start(self, inputs: list[Any]) -> list[Callable[[], Nest]]:
        if not isinstance(inputs[0], functions.DatasetV2):
            raise ArgumentError(
                "an input function for predict() returned %r" % (inputs[0],),
                "predict() has to see where the input ends, to fill up the last batch",
                "return a tf.data.Dataset",
            )
        return super()._start(inputs)

    def _prepare(self, dataset: Dataset) -> Dataset:
        size = self._feeding.input_fn_batch_size

        def pad(*element: Any) -> tuple[Nest, Tensor]:
            features, _ = features_and_labels(element if len(element) > 1 else element[0])
            num_rows = tf.shape(nests.flatten(features)[0])[0]
            padded = nests.map_structure(lambda tensor: _pad(tensor, size), features)
            return padded, tf.range(size) < num_rows

        padded = dataset.map(pad)
        only_padding = padded.take(1).map(lambda features, mask: (features, tf.zeros_like(mask)))
        return padded.concatenate(only_padding.repeat())


class InitializerHook(_SessionRunHook):
    """Runs initializers, such as those of iterators, when a Session has been created."""

    def __init__(self, initializers: object) -> None:
        self._initializers = initializers

    def after_create_session(self, session: Session, coord: object) -> None:
        session.run(self._initializers)


class PaddingHook(_SessionRunHook):
    """Ends a prediction after a batch of padding; refuses a padded one without rows to cut off.

    `num_rows` of the `batch_size` examples are no padding; `predictions` are those of all.
    """

    def __init__(self, num_rows: Tensor, predictions: Nest, batch_size: int) -> None:
        self._num_rows = num_rows
        self._batch_size = batch_size
        self._others = [
            tensor
            for tensor in nests.flatten(predictions)
            if tensor.shape.as_list()[0] != batch_size
        ]

    def before_run(self, run_context: object) -> object:
        return _train.SessionRunArgs(self._num_rows)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._others and 0 < run_values.results < self._batch_size:
            seen = "the last batch has %d of %d examples" % (run_values.results, self._batch_size)
            raise _without_rows(self._others[0], seen)
        if not run_values.results:
            run_context.request_stop()


def features_and_labels(element: object) -> tuple[Nest, Nest]:
    """Splits what an input function or a dataset gives; labels may be None."""
    if isinstance(element, tuple) and not hasattr(element, "_fields"):
        if len(element) == 2:
            return element[0], element[1]
        if len(element) == 1:
            return element[0], None
        raise ArgumentError(
            "an input function returned a tuple of %d" % len(element),
            "it returns the features, or a pair (features, labels)",
            "return features, labels; several tensors of either go into a dictionary",
        )
    return element, None


def require_static(nest: Nest) -> None:
    """Refuses batches of unknown shape, which a TPU cannot compile."""
    for tensor in nests.flatten(nest):
        if nests.is_tensor(tensor) and not tensor.shape.is_fully_defined():
            raise ArgumentError(
                "input of shape %s (%s)" % (tensor.shape, tensor.name),
                "a TPU compiles a step for the shapes of its input, so all must be static",
                "dataset.batch(params['batch_size'], drop_remainder=True), and "
                "tensor.set_shape(...) where a parsed example has no static shape",
            )


def queue_batches(tensors: object) -> Callable[[], Nest]:
    """Puts batches of tensors that an input function returned into a queue; returns what takes one.

    The loop of steps runs on the device and would read the tensors of the host's graph only once. A
    queue runner of the Session evaluates them for each batch instead.
    """
    element = features_and_labels(tensors)
    require_static(element)
    flat = [tensor for tensor in nests.flatten(element) if tensor is not None]
    queue = tf.queue.FIFOQueue(
        2, [tensor.dtype for tensor in flat], [tensor.shape for tensor in flat]
    )
    _train.add_queue_runner(_train.QueueRunner(queue, [queue.enqueue(flat)]))

    def get_next() -> Nest:
        dequeued = queue.dequeue()
        rest = iter(dequeued if isinstance(dequeued, list) else [dequeued])
        return nests.pack_sequence_as(
            element, [None if tensor is None else next(rest) for tensor in nests.flatten(element)]
        )

    return get_next


def remove_padding(predictions: Nest, mask: Tensor) -> Nest:
    """Keeps those rows of the predictions of all replicas that are not padding, as `mask` says.

    A prediction with another number of rows, such as one of all words of a batch, is whole, or
    empty for a batch of nothing but padding; `PaddingHook` refuses batches in between.
    """
    some = tf.reduce_any(mask)
    batch_size = mask.shape.as_list()[0]

    def kept(tensor: Tensor) -> Tensor:
        rows = tensor.shape.as_list()[0] if tensor.shape.ndims else None
        if rows is None:
            raise _without_rows(tensor, "a batch has %d examples" % batch_size)
        return tf.boolean_mask(tensor, mask if rows == batch_size else tf.fill([rows], some))

    return nests.map_structure(kept, predictions)


def _without_rows(tensor: Tensor, why: str) -> ArgumentError:
    return ArgumentError(
        "the prediction %s of shape %s" % (tensor.name, tensor.shape),
        why + ", and the padding of the last batch is cut off by rows",
        "a tensor with a row for each example, or batches without padding: "
        "dataset.batch(params['batch_size'], drop_remainder=True)",
    )


def _split(nest: Nest, count: int, axis: int) -> list[Nest]:
    """Splits each tensor of `nest` into `count` equal parts along `axis`."""
    if nest is None:
        return [None] * count
    parts = [_split_tensor(tensor, count, axis) for tensor in nests.flatten(nest)]
    return [nests.pack_sequence_as(nest, list(flat)) for flat in zip(*parts)]


def _split_tensor(tensor: Tensor, count: int, axis: int) -> list[Tensor]:
    size = tensor.shape.as_list()[axis] if tensor.shape.ndims else None
    if size is None or size % count:
        raise ArgumentError(
            "the input %s of shape %s for the %d replicas of a host"
            % (tensor.name, tensor.shape, count),
            "the batch of a host is split evenly among its replicas",
            "dataset.batch(params['batch_size'], drop_remainder=True)",
        )
    return list(tf.split(tensor, count, axis=axis)) if count > 1 else [tensor]


def _pad(tensor: Tensor, size: int) -> Tensor:
    """Appends rows of zeros to `tensor` until it has `size` rows."""
    missing = size - tf.shape(tensor)[0]
    other_dims = tf.zeros([tensor.shape.ndims - 1, 2], tf.int32)
    paddings = tf.concat([tf.stack([[0, missing]]), other_dims], axis=0)
    padded = tf.pad(tensor, paddings) if tensor.dtype != tf.string else tensor
    padded.set_shape([size] + tensor.shape.as_list()[1:])
    return padded
