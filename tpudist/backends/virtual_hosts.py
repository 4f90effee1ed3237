"""The operations of a strategy on virtual cores of all workers of a cluster.

Every worker stands for a host: it does the cores of that host together, on its one device, as
:mod:`tpudist.backends.virtual_tpu` does all cores of a slice. What it has added over them,
TensorFlow's ``MultiWorkerMirroredStrategy`` adds over the workers.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Mapping, Sequence

import tensorflow as tf

from tpudist.backends import cluster as devices_of_workers
from tpudist.backends.replica_checks import ReplicaCheck
from tpudist.backends.replica_numbers import ReplicaNumbers
from tpudist.backends.virtual_tpu import VirtualBackend
from tpudist.errors import CollectiveError
from tpudist.system import cluster, tasks
from tpudist.tfcompat import clusters, distributed, functions, random_seeds
from tpudist.virtual import reductions
from tpudist.virtual.extended import VirtualExtended
from tpudist.virtual.input import inputs
from tpudist.virtual.replicas import merge
from tpudist.virtual.trace import function_graphs

if TYPE_CHECKING:
    from tpudist.annotations import Args, Assignment, Fn
    from tpudist.tfcompat.annotations import Nest, Strategy, Tensor, Value
    from tpudist.virtual.system import VirtualSystem


class HostsExtended(VirtualExtended, clusters.WorkerExtended):
    """The ``StrategyExtended`` of a worker: computes its host's cores, adds over all hosts."""

    own_hosts = 1

    _numbers: ReplicaNumbers | None = None

    def __init__(
        self, strategy: Strategy, system: VirtualSystem, placement: Any, assignment: Assignment
    ) -> None:
        own = tasks.own()
        self._own_cores = devices_of_workers.own_cores(system, placement, own)
        self._names = cluster.join(system)
        self.here, self.own_task = own.name, own.task_id
        super().__init__(strategy, system, placement, own.name + self._names[0], assignment)
        self._check = ReplicaCheck.asked_for(self)

    def own_cores(self) -> Sequence[tuple[int, ...]]:
        return self._own_cores

    def _start(self, strategy: Strategy, labels: tuple[str, ...]) -> None:
        self._labels = labels
        clusters.WorkerExtended.__init__(self, strategy, self._names)

    def _initialize_strategy(self, *resolver: Any, **devices: Any) -> None:
        """Sets what TensorFlow sends with, and then the names of the replicas' cores."""
        clusters.WorkerExtended._initialize_strategy(self, *resolver, **devices)
        inputs.set_devices(self, self._labels, self.host)

    def _get_cross_device_ops(self, *unused_value: Any) -> object:
        """Returns cross-device ops that send one tensor of each worker, whatever its replicas."""
        return self._cross_device_ops

    def _create_variable(self, next_creator: Any, *args: Any, **kwargs: Any) -> Value:
        """Makes a variable in eager mode: the chief's value is sent to the other workers."""
        made: list[Any] = []

        def create(**kwargs: Any) -> Value:
            if not made:  # further copies start with the value of the first
                kwargs["initial_value"] = self.chiefs_initial_value(self.real_device, kwargs)
            made.append(next_creator(**kwargs))
            return made[-1]

        with tf.init_scope():
            variable = super()._create_variable(create, *args, **kwargs)
        if self._check is not None:
            self._check.watch(variable)
        return variable

    def _call_for_each_replica(self, fn: Fn, args: Any, kwargs: Any) -> Nest:
        if functions.in_session_graph():
            self._numbers = self._numbers or ReplicaNumbers(self)
            fn = self._numbers.numbered(fn)
        if self._check is not None:
            self._check.before_step()
        with self.running_replicas():
            results = super()._call_for_each_replica(fn, args, kwargs)
        if not tf.executing_eagerly():  # else the function around the replicas has called this
            self.after_step()
        return self.as_per_replica(results)

    def after_step(self) -> None:
        """Compares the workers' variables, if that is asked for and it is time."""
        if self._check is not None:
            self._check.after_step()

    # Reductions.

    def over_hosts(self, reduce_op: Any, values: list[Any]) -> list[Any]:
        return self.over_workers(reduce_op, values)

    def over_workers(self, reduce_op: Any, values: Sequence[Any]) -> list[Any]:
        if functions.in_session_graph() and not clusters.has_sessions:
            raise CollectiveError(
                "%s over %d hosts in a graph" % (reduce_op, self.num_hosts),
                "only Sessions of the worker's own server add over the workers",
                "tpudist run --tpu %s, which makes them so" % self.system.name,
            )
        for value in values:
            if not (value.dtype.is_floating or value.dtype.is_integer or value.dtype.is_complex):
                raise CollectiveError(
                    "%s of %r over %d hosts" % (reduce_op, value, self.num_hosts),
                    "TensorFlow's collectives add numbers",
                    "tf.cast(value, tf.int32) in the replica function",
                )
        return clusters.WorkerExtended.over_workers(self, reduce_op, values)

    def rows_of_all(self, parts: Sequence[Any]) -> Nest:
        with self.place():
            return self.gathered_over_workers([tf.concat(parts, 0)], 0)

    def _broadcast_to(self, tensor: Any, destinations: object) -> Nest:
        """Sends all hosts the first one's value where replicas may have values of their own."""
        with self.place():
            tensor = distributed.to_broadcast(tensor, destinations)
            if distributed.is_tensor_like(tensor) and not merge.is_known_equal(tensor):
                tensor = self.chiefs_value(tensor)
        return super()._broadcast_to(tensor, destinations)

    def _reduce_to(self, reduce_op: Any, value: object, destinations: Any, *options: Any) -> Nest:
        """Reduces a tensor over the workers where it is that of each worker's only replica.

        TensorFlow's input asks for it too. Any other tensor is the same in every replica.
        """
        is_plain = distributed.is_tensor_like(value) and not distributed.is_distributed(value)
        if is_plain and (len(self.worker_devices) == 1 or clusters.counts_batches()):
            with self.place():
                [reduced] = self.over_hosts(reduce_op, [value])
                return reductions.spread(self, reduced, destinations)
        return super()._reduce_to(reduce_op, value, destinations, *options)

    def _batch_reduce_to(self, reduce_op: Any, pairs: Any, *options: Any) -> list[Any]:
        """Sends together what is per-replica."""
        if not all(
            distributed.is_distributed(value) and not distributed.is_mirrored(value)
            for value, _ in pairs
        ):
            return super()._batch_reduce_to(reduce_op, pairs, *options)
        with self.place():
            values = [merge.combine(reduce_op, value) for value, _ in pairs]
            reduced = self.over_hosts(reduce_op, values)
            return [reductions.spread(self, one, to) for one, (_, to) in zip(reduced, pairs)]

    def _gather_to_implementation(
        self, value: Any, destinations: object, axis: int, *unused: Any
    ) -> Nest:
        if not distributed.is_distributed(value) and len(self.worker_devices) > 1:
            return value
        with self.place(), function_graphs.named("AllGather"):
            own = tf.concat(distributed.components(value), axis)
            gathered = self.gathered_over_workers([own], axis)
            return reductions.spread(self, gathered, destinations)


class HostsBackend(devices_of_workers.OwnInput, VirtualBackend):
    """The backend of one worker of a cluster that computes the virtual cores of one host."""

    __slots__ = ()

    def concatenated(self, tensors: Any) -> Tensor:
        own = super().concatenated(tensors)
        with self.extended.place():
            return self.extended.gathered_over_workers([own], 0)

    def meet(self) -> None:
        """See the base class; TensorFlow adds something over the workers."""
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            with self.extended.place():
                session.run(self.extended.over_hosts(tf.distribute.ReduceOp.SUM, [tf.zeros([])]))

    def replicate(self, fn: Fn, args: Args, kwargs: Mapping[str, Any]) -> Nest:
        """See the base class; in eager mode replicas draw numbers of this worker's own."""
        at_once = tf.executing_eagerly()
        number = tasks.own().number
        with random_seeds.eager_numbers_of(number) if at_once else contextlib.nullcontext():
            results = super().replicate(fn, args, kwargs)
        if at_once:
            self.extended.after_step()
        return results
