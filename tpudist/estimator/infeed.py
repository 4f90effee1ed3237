"""The batches of a TPUEstimator's steps, replica by replica.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/InputPipelineConfig.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError
from tpudist.estimator import tpu_context
from tpudist.tfcompat import distributed, functions, nests
from tpudist.virtual.input import host_iterators

if TYPE_CHECKING:
    from typing import Any, Callable

    from tpudist.core.annotations import Strategy
    from tpudist.estimator.tpu_context import Feeding


class Infeed:
    """What an input function gives, as an iterator of a loop of steps.

    Args:
      strategy: the strategy of the cores.
      fed: its `Feeding`.
      input_fn: ``input_fn(TPUContext)``: returns a dataset, or features and labels.
      batch_axis: for each tensor the dimension to split along; None for the first.

    Attributes:
      initializers: ops that start the datasets' iterators.
    """

    def __init__(
        self,
        strategy: Strategy,
        fed: Feeding,
        input_fn: Callable[[Any], Any],
        batch_axis: Any = None,
    ) -> None:
        self._strategy = strategy
        self._feeding = fed
        self._batch_axis = batch_axis
        self.initializers: list[Any] = []
        self._sources = self._started([self._called(input_fn, i) for i in range(fed.calls)])

    def _called(self, input_fn: Callable[[Any], Any], call: int) -> Any:
        with tf.device("/device:CPU:0"):
            return input_fn(tpu_context.TPUContext(self._strategy, self._feeding, call))

    def _started(self, given: list[Any]) -> list[Callable[[], Any]]:
        if not isinstance(given[0], functions.DatasetV2):
            return [queue_of(nest) for nest in given]
        iterators = [
            functions.initializable_iterator(dataset, None)
            for dataset in host_iterators.untuned(list(map(self._prepared, given)))
        ]
        self.initializers += [iterator.initializer for iterator in iterators]
        return [iterator.get_next for iterator in iterators]

    def _prepared(self, dataset: Any) -> Any:
        """The dataset to read instead of the input function's."""
        return dataset

    def get_next(self) -> Any:
        """The next batch of every replica.

        Returns:
          A tuple (features, labels), or (features,), of nests of per-replica values.
        """
        elements: list[Any] = []
        for source in self._sources:
            elements += [pair if pair[1] is not None else pair[:1] for pair in self._shares(source)]
        for element in elements[:1]:
            require_static(element)
        if len(elements) == 1:
            return elements[0]
        return distributed.regroup(self._strategy.extended, elements)

    def _shares(self, source: Callable[[], Any]) -> list[Any]:
        """The batches of the replicas that one call of the input function feeds."""
        count = self._feeding.replicas_of_a_call
        if self._feeding.mode == tpu_context.BROADCAST:
            return [parsed(source())] * count
        if not self._feeding.splits:
            return [parsed(element) for element in host_iterators.take(source, count)]
        features, labels = parsed(source())
        require_static((features, labels))
        axes = self._batch_axis or (0, 0)
        parts = [_split(features, count, axes[0]), _split(labels, count, axes[-1])]
        return list(zip(*parts))


def parsed(element: Any) -> tuple[Any, Any]:
    """(features, labels) of what an input function or a dataset gives."""
    if isinstance(element, tuple) and not hasattr(element, "_fields"):
        if len(element) == 2:
            return element[0], element[1]
        if len(element) == 1:
            return element[0], None
        raise ArgumentError(
            "an input function gave a tuple of %d" % len(element),
            "it gives the features, or a pair (features, labels)",
            "return features, labels; several tensors of either go into a dictionary",
        )
    return element, None


def _split(nest: Any, count: int, axis: int) -> list[Any]:
    """`nest` in `count` equal parts along `axis`."""
    if nest is None:
        return [None] * count
    columns = [_parts(tensor, count, axis) for tensor in nests.flatten(nest)]
    return [nests.pack_sequence_as(nest, list(row)) for row in zip(*columns)]


def _parts(tensor: Any, count: int, axis: int) -> list[Any]:
    size = tensor.shape.as_list()[axis] if tensor.shape.ndims else None
    if size is None or size % count:
        raise ArgumentError(
            "the input %s of shape %s for the %d replicas of a host"
            % (tensor.name, tensor.shape, count),
            "the batch of a host is split evenly among its replicas",
            "dataset.batch(params['batch_size'], drop_remainder=True)",
        )
    return list(tf.split(tensor, count, axis=axis)) if count > 1 else [tensor]


def require_static(nest: Any) -> None:
    """Refuses batches of unknown shape, which a TPU cannot compile.

    Raises:
      ArgumentError: (a ValueError) a tensor of `nest` has an unknown dimension.
    """
    for tensor in nests.flatten(nest):
        if nests.is_tensor(tensor) and not tensor.shape.is_fully_defined():
            raise ArgumentError(
                "input of shape %s (%s)" % (tensor.shape, tensor.name),
                "a TPU compiles a step for the shapes of its input, so all must be static",
                "dataset.batch(params['batch_size'], drop_remainder=True), and "
                "tensor.set_shape(...) where a parsed example has no static shape",
            )


def queue_of(given: Any) -> Callable[[], Any]:
    """Tensors that an input function returned, a batch for each call of the result.

    The steps' loop runs on the device, where the tensors of the host's graph do not
    change. A queue runner of the Session brings them.
    """
    element = parsed(given)
    require_static(element)
    flat = [tensor for tensor in nests.flatten(element) if tensor is not None]
    queue = tf.queue.FIFOQueue(
        2, [tensor.dtype for tensor in flat], [tensor.shape for tensor in flat]
    )
    tf.compat.v1.train.add_queue_runner(
        tf.compat.v1.train.QueueRunner(queue, [queue.enqueue(flat)])
    )

    def get_next() -> Any:
        taken = queue.dequeue()
        rest = iter(taken if isinstance(taken, list) else [taken])
        return nests.pack_sequence_as(
            element, [None if tensor is None else next(rest) for tensor in nests.flatten(element)]
        )

    return get_next
