"""The operations of a strategy on TensorFlow's own TPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

import tensorflow as tf

from tpudist.backends import step_loops
from tpudist.backends.backend import Backend
from tpudist.keras import whole_batches
from tpudist.strategy import base_classes
from tpudist.system import cluster
from tpudist.tfcompat import functions, tpu, versions

if TYPE_CHECKING:
    from typing import Callable

    from tpudist.annotations import (
        Args,
        Context,
        Dataset,
        DatasetFn,
        Fn,
        Integer,
        Kwargs,
        Ops,
        Options,
        ReduceOp,
        T,
    )
    from tpudist.backends.step_loops import Outputs
    from tpudist.tfcompat.annotations import DataIterator, Nest


class NativeBackend(Backend):
    """TensorFlow's ``TPUExtended``."""

    __slots__ = ()

    system = None
    annotates_with_ops = False

    def run(self, fn: Fn, args: Args, kwargs: Kwargs, options: Options) -> Nest:
        return tpu.run(self.strategy, fn, args, kwargs, options)

    def replicate(self, fn: Fn, args: Args, kwargs: Mapping[str, Any]) -> Nest:
        if tpu.in_computation():
            return self.extended.call_for_each_replica(fn, args=args, kwargs=kwargs)
        return self.run(fn, args, kwargs, None)

    def run_steps(
        self, fn: Fn, iterator: Any, iterations: Integer, initial_values: Any, outputs: Outputs
    ) -> Outputs:
        return step_loops.run_natively(
            self.strategy, fn, iterator, iterations, initial_values, outputs
        )

    def scope(self) -> Context:  # type: ignore[override]
        return base_classes.native(self.strategy).scope()

    def reduce_along(self, reduce_op: ReduceOp, value: object, axis: int) -> Nest:
        return self._reduce_natively(reduce_op, value, axis)

    def mirror(self, value: object, copies: int) -> Nest:
        """See the base class; the TPU sends `value` where it is needed."""
        return value

    def pipeline_devices(self) -> list[str]:
        return list(dict.fromkeys(map(functions.host_of, self.extended.worker_devices)))

    def per_replica_dataset(self, dataset_fn: DatasetFn, dataset_class: Callable[..., T]) -> T:
        if not versions.HAS_INPUT_LIB:
            return base_classes.native(self.strategy).distribute_dataset(dataset_fn)
        return super().per_replica_dataset(dataset_fn, dataset_class)

    def make_iterator_of_replicas(self, dataset: Dataset) -> DataIterator:
        count = self.strategy.num_replicas_in_sync
        return self.make_dataset_iterator(whole_batches.global_batches(dataset, count))

    @property
    def logical_devices(self) -> int:
        return tpu.logical_devices(self.extended)

    def start_system(self) -> Ops:
        if not tf.executing_eagerly():
            return [tpu.tpu.initialize_system()]
        cluster.start_native(self.extended._tpu_cluster_resolver)
        return None

    def stop_system(self) -> Ops:
        if not tf.executing_eagerly():
            return [tpu.tpu.shutdown_system()]
        cluster.shutdown_tpu_system(self.extended._tpu_cluster_resolver)
        return None

    def configure(
        self, session_config: Any, cluster_spec: Any, task_type: str | None, task_id: int | None
    ) -> None:
        base_classes.native(self.strategy).configure(
            session_config, cluster_spec, task_type, task_id
        )
