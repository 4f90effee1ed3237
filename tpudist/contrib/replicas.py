"""Methods of contrib's ``TPUStrategy`` in TensorFlow 1.13 to 1.15.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/distribute/TPUStrategy.md
Towers had become replicas, and most of the methods had moved to `extended`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpudist import adapter

if TYPE_CHECKING:
    from tpudist.annotations import Args, Dataset, Fn, Kwargs, Ops


@adapter.part_of("TPUStrategy")
class ReplicaNames:
    """The later names of the strategy's members (r1.15), where no later era has them too."""

    @property
    def num_replicas(self) -> int:
        """The same as `num_replicas_in_sync` (r1.15)."""
        return adapter.num_replicas(self)

    @property
    def require_static_shapes(self) -> bool:
        """Whether the towers' tensors must have static shapes (1.13; see r1.15)."""
        return adapter.require_static_shapes(self)

    @adapter.library
    def experimental_initialize(self) -> Ops:
        """The same as `initialize` (1.13; see r1.15)."""
        return adapter.start_system(self)

    @adapter.library
    def experimental_finalize(self) -> Ops:
        """The same as `finalize` (1.13; see r1.15)."""
        return adapter.finalize(self)

    @property
    def steps_per_run(self) -> int:
        """Steps of Keras and Estimator in one loop on the device (r1.15)."""
        return adapter.steps_per_run(self)

    @adapter.library
    def call_for_each_replica(self, fn: Fn, *args: Any, **kwargs: Any) -> Any:
        """The same as `call_for_each_tower` (1.13; see r1.15)."""
        return adapter.replicate_dividing_losses(self, fn, args, kwargs)

    @adapter.library
    def experimental_run_v2(self, fn: Fn, args: Args = (), kwargs: Kwargs = None) -> Any:
        """Runs `fn` once per replica (r1.15).

        Context: cross-replica; graph, tf.function or eager. Optimizers leave a
        mean loss as it is, as of 1.14, which brought this method.

        Args:
          fn: the replica function.
          args: positional arguments; a per-replica value becomes the
            replica's component.
          kwargs: keyword arguments, likewise.

        Returns:
          What `fn` returned, with a per-replica value for each tensor.
        """
        return adapter.run_keeping_losses(self, fn, args, kwargs)

    @adapter.library
    def make_dataset_iterator(self, dataset: Dataset) -> Any:
        """An iterator that splits global batches among towers (r1.15).

        Keras gets one of whole batches where `compile(distribute=)` was given the
        strategy: each tower takes a batch of a dataset, as in TensorFlow 1.12.

        Args:
          dataset: a `tf.data.Dataset` of batches.

        Returns:
          An iterator; call its `initialize()` (in a graph, run the result).
        """
        return adapter.make_dataset_iterator(self, dataset, whole_for_keras=True)

    @adapter.library
    def experimental_make_numpy_dataset(self, numpy_input: object, session: object = None) -> Any:
        """A dataset of the rows of numpy arrays (r1.15).

        Args:
          numpy_input: a nest of arrays of equal first dimension.
          session: in a graph, initialises the variables that hold them.

        Returns:
          A `tf.data.Dataset`; the arrays are not constants of the graph.
        """
        return adapter.make_numpy_dataset(self, numpy_input, session)
