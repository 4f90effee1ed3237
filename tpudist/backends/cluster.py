"""The operations of a strategy on the devices of all workers of a cluster.

Every worker runs the program; TensorFlow's ``MultiWorkerMirroredStrategy`` adds what they
compute. The workers, and which of them this process is, are those of TF_CONFIG.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Callable

import tensorflow as tf

from tpudist.backends import step_loops
from tpudist.backends.backend import Backend
from tpudist.backends.mirrored import DevicesExtended, MirroredBackend
from tpudist.backends.replica_checks import ReplicaCheck
from tpudist.errors import TopologyError
from tpudist.system import cluster, tasks
from tpudist.tfcompat import clusters, distributed, functions, nests, random_seeds
from tpudist.virtual import device_loop

if TYPE_CHECKING:
    from tpudist.annotations import Assignment, Dataset, DatasetFn, Fn, Integer, T
    from tpudist.backends.step_loops import Outputs
    from tpudist.tfcompat.annotations import DataIterator, Nest, Strategy, Value
    from tpudist.virtual.system import VirtualSystem


class ClusterExtended(DevicesExtended, clusters.WorkerExtended):
    """TensorFlow's extended object of ``MultiWorkerMirroredStrategy``, on devices as cores.

    Each host of the `VirtualSystem` is a worker; a replica computes on the first core of its
    `placement.Placement`.
    """

    def __init__(
        self, strategy: Strategy, system: VirtualSystem, placement: object, assignment: Assignment
    ) -> None:
        self.describe(system, placement, assignment)
        own = own_cores(system, placement, tasks.own())
        names = cluster.join(system)
        clusters.WorkerExtended.__init__(self, strategy, [names[cores[0]] for cores in own])
        self.own_task, here = tasks.own().task_id, tasks.own().name
        self.cores = [here + name for name in names]
        self.host = here + "/device:CPU:0"
        self._check = ReplicaCheck.asked_for(self)
        self._made_while_traced: list[Any] = []

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Value:
        """Makes a variable in eager mode: the chief's value is sent to the other workers."""
        is_traced = not tf.executing_eagerly()
        with tf.init_scope():
            variable = super()._create_variable(next_creator, **kwargs)
        if is_traced and distributed.is_mirrored(variable):
            self._made_while_traced.append(variable)
        if self._check is not None:
            self._check.watch(variable)
        return variable

    def _call_for_each_replica(self, fn: Callable[..., Any], args: object, kwargs: object) -> Nest:
        """Runs this worker's replicas; in eager mode they draw numbers of this worker's own."""
        at_once = tf.executing_eagerly() and not functions.is_function(fn)
        number = tasks.own().number
        own_numbers = random_seeds.eager_numbers_of(number)
        if self._check is not None:
            self._check.before_step()
        with self.running_replicas(), own_numbers if at_once else contextlib.nullcontext():
            results = super()._call_for_each_replica(fn, args, kwargs)
        self._restore_all_copies()
        if self._check is not None and not functions.is_function(fn):  # its trace checks
            self._check.after_step()
        return self.as_per_replica(results)

    def _restore_all_copies(self) -> None:
        """Copies the first copy's value of new variables to all copies.

        A checkpoint that waited for a variable, as for an optimizer's slot, is read by the replica
        that makes it, while no step has run yet.
        """
        while self._made_while_traced and not tf.executing_eagerly():
            first, *others = distributed.components(self._made_while_traced.pop())
            with tf.init_scope():
                for copy in others:
                    copy.assign(first.read_value())

    def over_hosts(self, reduce_op: object, values: list[Any]) -> list[Any]:
        return self.over_workers(reduce_op, values)

    def _broadcast_to(self, tensor: object, destinations: object) -> Nest:
        """Sends the chief's tensor to all workers; TensorFlow's method stays within a worker."""
        tensor = distributed.to_broadcast(tensor, destinations)
        if distributed.is_tensor_like(tensor):
            if tf.executing_eagerly() or functions.static_value(tensor) is None:
                tensor = self.chiefs_value(tensor)
        return super()._broadcast_to(tensor, destinations)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any, *options: Any) -> Nest:
        """Reduces a tensor over the workers where it is that of each worker's only replica.

        TensorFlow's input asks for it too. Any other tensor is the same in every replica.
        """
        one_each = len(self.worker_devices) == 1
        if distributed.is_tensor_like(value) and (
            one_each or distributed.is_distributed(value) or clusters.counts_batches()
        ):
            return clusters.WorkerExtended._reduce_to(
                self, reduce_op, value, destinations, *options
            )
        return super()._reduce_to(reduce_op, value, destinations, *options)


def own_cores(system: VirtualSystem, placement: Any, task: tasks.Task) -> list[tuple[int, ...]]:
    """Returns, for each replica of a worker, the numbers that its cores have on the worker."""
    each, per_host = placement.num_replicas // task.workers, system.cores_per_host
    hosts = [cores[0] // per_host for cores in placement.cores]
    if hosts != [worker for worker in range(task.workers) for _ in range(each)]:
        raise TopologyError(
            "replicas on the hosts %s" % hosts,
            "each of the %d workers has equally many replicas, and those of the first come first"
            % task.workers,
            "num_cores=%d, or no device assignment" % system.cores,
        )
    own = placement.cores[task.number * each : (task.number + 1) * each]
    return [tuple(core % per_host for core in cores) for cores in own]


def _loop_around(step: Callable[[], Any]) -> Fn:
    """Runs `step` as often as the function's argument says; gives what it returned last.

    TensorFlow counts the sums over workers when a ``tf.function`` is called.
    """
    structure: Any = None

    def flat() -> list[Any]:
        nonlocal structure
        structure = step()
        return [tf.convert_to_tensor(leaf) for leaf in nests.flatten(structure)]

    one = tf.function(flat, autograph=False)

    def loop(iterations: Any) -> Nest:
        outputs = one.get_concrete_function().outputs
        results = tf.while_loop(
            lambda i, *unused: i < iterations,
            lambda i, *unused: [i + 1, *one()],
            [tf.zeros_like(iterations), *map(device_loop.zeros, outputs)],
            shape_invariants=[iterations.shape, *(tensor.shape for tensor in outputs)],
            parallel_iterations=1,
        )
        return nests.pack_sequence_as(structure, results[1:])

    return tf.function(loop, autograph=False)


class OwnInput(Backend):
    """The loops and the input of one of several workers."""

    __slots__ = ()

    def run_steps(
        self, fn: Fn, iterator: Any, iterations: Integer, initial_values: Any, outputs: Outputs
    ) -> Outputs:
        """See the base class; `initial_values` are those of a loop without steps, which is none."""
        return step_loops.run(self.strategy, fn, iterator, iterations, None, outputs, _loop_around)

    def pipeline_devices(self) -> list[str]:
        """See the base class: each worker has its own pipeline."""
        return [self.extended.host]

    def per_replica_dataset(self, dataset_fn: DatasetFn, dataset_class: Callable[..., T]) -> T:
        """See the base class: of what all replicas take in a step, those of this worker get theirs.

        Each worker reads the whole dataset, as with TensorFlow's own sharding of batches.
        """
        return super().per_replica_dataset(lambda: self._own_part(dataset_fn()), dataset_class)

    def make_iterator_of_replicas(self, dataset: Dataset) -> DataIterator:
        return super().make_iterator_of_replicas(self._own_part(dataset))

    def _own_part(self, dataset: object) -> Dataset:
        if not isinstance(
            dataset, functions.DatasetV2
        ):  # refused with the type that it should have
            return dataset
        own, count = distributed.local_replicas(self.extended), self.strategy.num_replicas_in_sync
        is_tuple = isinstance(dataset.element_spec, tuple)

        def part(*leaves: Any) -> Dataset:
            step = tf.data.Dataset.zip(leaves if is_tuple else leaves[0])
            return step.skip(own.start).take(len(own))

        return dataset.window(count, drop_remainder=True).flat_map(part)


class ClusterBackend(OwnInput, MirroredBackend):
    """The backend of one worker of a cluster whose cores are devices."""

    __slots__ = ()
