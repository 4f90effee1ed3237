"""The base class of backends, with the operations that TPUs do differently.

:class:`tpudist.backends.native.NativeBackend` is TensorFlow's TPU,
:class:`tpudist.backends.virtual_tpu.VirtualBackend` the virtual one. Only
:func:`tpudist.backends.strategies.backend_of` decides which one a strategy has.
"""

from __future__ import annotations

import abc
import contextlib
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

import tensorflow as tf

from tpudist.backends import step_loops
from tpudist.errors import ArgumentError
from tpudist.input import distributed_datasets, per_replica_datasets
from tpudist.strategy import base_classes
from tpudist.tfcompat import distributed, functions, nests

if TYPE_CHECKING:
    from typing import Callable

    from tpudist.annotations import (
        Args,
        Dataset,
        DatasetFn,
        Fn,
        InputFn,
        InputMode,
        Integer,
        Kwargs,
        Ops,
        Options,
        ReduceOp,
        T,
    )
    from tpudist.backends.step_loops import Outputs
    from tpudist.tfcompat.annotations import (
        DataIterator,
        DistributedDataset,
        Nest,
        Strategy,
        Tensor,
    )
    from tpudist.virtual.system import VirtualSystem


class Backend(abc.ABC):
    """The operations of one strategy."""

    __slots__ = ("strategy", "extended")

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.extended = strategy.extended

    # Replicas.

    @abc.abstractmethod
    def run(self, fn: Fn, args: Args, kwargs: Kwargs, options: Options) -> Nest:
        """Runs `fn` on every replica, in a new computation; context: cross-replica."""

    @abc.abstractmethod
    def replicate(self, fn: Fn, args: Args, kwargs: Mapping[str, Any]) -> Nest:
        """As :meth:`run`; inside a computation that has been started, as part of it."""

    def run_steps(
        self, fn: Fn, iterator: Any, iterations: Integer, initial_values: Any, outputs: Outputs
    ) -> Outputs:
        """Runs ``fn(outputs, *inputs)`` `iterations` times in one device loop.

        :func:`tpudist.adapter.run_steps` has checked the arguments.
        """
        return step_loops.run(self.strategy, fn, iterator, iterations, initial_values, outputs)

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """Context manager: the strategy is current, in cross-replica context.

        Where cores and hosts exist in name only, a graph places ops that legacy code pins to such
        a name on the device that computes.
        """
        with contextlib.ExitStack() as stack:
            if not tf.executing_eagerly() and not tf.distribute.has_strategy():
                graph = tf.compat.v1.get_default_graph()
                stack.enter_context(graph.device(self.extended.rename_device))
            yield stack.enter_context(base_classes.native(self.strategy).scope())

    # Values.

    def reduce(self, reduce_op: ReduceOp, value: object) -> Nest:
        """`value`, or each leaf of a nest, reduced over the replicas."""
        return self._reduce_natively(reduce_op, value, None)

    def _reduce_natively(self, reduce_op: ReduceOp, value: object, axis: int | None) -> Nest:
        with distributed.scope_if_needed(self.scope):
            native_reduce = base_classes.native(self.strategy).reduce
            return distributed.reduce_natively(native_reduce, reduce_op, value, axis)

    def reduce_along(self, reduce_op: ReduceOp, value: object, axis: int) -> Nest:
        """As :meth:`reduce`, and along the dimension `axis` of each component."""
        reduce_op = distributed.reduce_op(reduce_op)
        return nests.map_structure(
            lambda leaf: self.extended.reduce_along(reduce_op, leaf, axis), value
        )

    def concatenated(self, tensors: Sequence[Tensor]) -> Tensor:
        """`tensors`, one for each replica of this process, and those of all others, as one."""
        return tensors[0] if len(tensors) == 1 else tf.concat(list(tensors), axis=0)

    def meet(self) -> None:
        """Waits until all workers have made this call; a single process does not wait."""
        return

    @abc.abstractmethod
    def mirror(self, value: object, copies: int) -> Nest:
        """`value` on `copies` devices: a mirrored value if that is more than one."""

    # Input.

    def pipeline_devices(self) -> list[str]:
        """The device of each host on which its input pipeline runs; here one for all."""
        return [self.extended.host] * self.extended.num_hosts

    def per_replica_dataset(self, dataset_fn: DatasetFn, dataset_class: Callable[..., T]) -> T:
        """A dataset from which each replica takes its own element per step."""
        return dataset_class(self.strategy, dataset_fn, self.pipeline_devices())

    def distribute_dataset(self, dataset: Dataset, options: Options) -> DistributedDataset:
        """`dataset` of global batches, split among hosts and replicas."""
        return distributed_datasets.of_batches(
            self.strategy, dataset, options, for_sessions=self._for_sessions()
        )

    def distribute_datasets_from_function(
        self, dataset_fn: InputFn, options: Options
    ) -> DistributedDataset:
        """A dataset of per-replica batches for each host."""
        return distributed_datasets.of_function(
            self.strategy,
            dataset_fn,
            options,
            self.pipeline_devices(),
            for_sessions=self._for_sessions(),
        )

    def _for_sessions(self) -> bool:
        """Whether a Session needs iterators that TensorFlow's own datasets do not give it."""
        return functions.in_session_graph()

    def make_dataset_iterator(self, dataset: Dataset) -> DataIterator:
        """An iterator over a dataset of global batches, to be initialized."""
        return base_classes.native(self.strategy).make_dataset_iterator(dataset)

    def make_iterator_of_replicas(self, dataset: Dataset) -> DataIterator:
        """As :meth:`make_dataset_iterator`; each replica takes a whole batch of the dataset.

        One host hands out the batches, in their order.
        """
        return per_replica_datasets.PerReplicaDataset(
            self.strategy, lambda: dataset, self.pipeline_devices()[:1]
        ).make_initializable_iterator()

    def make_input_fn_iterator(
        self, input_fn: InputFn, replication_mode: tuple[InputMode, ...]
    ) -> DataIterator:
        """An iterator over the batches of ``input_fn(InputContext)``, one call a host."""
        return base_classes.native(self.strategy).make_input_fn_iterator(
            input_fn, *replication_mode
        )

    # Devices and the system.

    @property
    def system(self) -> VirtualSystem | None:
        """The `VirtualSystem` that it runs on; None for a real TPU."""
        return self.extended.system

    @property
    def logical_devices(self) -> int:
        """Number of cores of each replica."""
        return self.extended.placement.logical_devices

    @property
    def annotates_with_ops(self) -> bool:
        """Whether annotations for logical devices are always ops."""
        return self.extended.annotates_with_ops

    def host_device(self, host_id: int) -> str:
        """The CPU device of a host."""
        hosts = self.extended.num_hosts
        if isinstance(host_id, bool) or host_id not in range(hosts):
            raise ArgumentError(
                "host_id=%r" % (host_id,),
                "the TPU has %d host(s)" % hosts,
                "an integer from 0 to %d" % (hosts - 1),
            )
        return self._host_devices()[host_id]

    def _host_devices(self) -> list[str]:
        """The CPU device of each host."""
        return self.pipeline_devices()

    def start_system(self) -> Ops:
        """Starts the TPU system: a list of ops in a graph, else at once (None)."""
        return None if tf.executing_eagerly() else []

    def stop_system(self) -> Ops:
        """Stops the TPU system; results as for :meth:`start_system`."""
        return None if tf.executing_eagerly() else []

    def configure(
        self, session_config: Any, cluster_spec: Any, task_type: str | None, task_id: int | None
    ) -> None:
        """Adapts a ``ConfigProto``, in place; in this process, there is no cluster or task."""
        if session_config is not None:
            session_config.isolate_session_state = True
