"""The virtual TPU's ``StrategyExtended``: N replicas on one real device.

It is TensorFlow's mirrored strategy with the device taken out: replicas are named as their cores,
every op is on one real device, and mirrored variables, reductions and updates exist once.
"""

from __future__ import annotations

import collections
import contextlib
import re
from typing import TYPE_CHECKING, Any, Iterator, cast

import numpy as np
import tensorflow as tf

from tpudist.errors import ShardingError
from tpudist.tfcompat import distributed, nests, tpu
from tpudist.virtual import device_loop, explanations, keras_loops, reductions
from tpudist.virtual.input import inputs
from tpudist.virtual.replicas import merge, replicate
from tpudist.virtual.trace import function_graphs
from tpudist.virtual.variables import splits, storage, stored_once

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import (
        Args,
        DataIterator,
        DistributedDataset,
        Extended,
        Fn,
        Kwargs,
        Nest,
        Operation,
        Strategy,
        Tensor,
        Value,
    )


_TASK = re.compile(r"/task:([0-9]+)")


class NamedSlice:
    """Members of an extended object that depend on the slice, and not on what computes."""

    #: Whether annotations for logical devices are ops even on releases whose CPU
    #: kernel for that op crashes. True only for traces that never run.
    annotates_with_ops = False

    #: Whether a loop of steps is being built in a graph, which no Session looks into.
    builds_steps = False

    #: Whether a replica function has summed over replicas below the strategy, as code that
    #: knows no strategy does (CrossShardOptimizer, cross_replica_sum).
    sums_replicas = False

    #: Whether distributed values give the copy of a device, as those of contrib do. Elsewhere they
    #: are of TensorFlow's own classes, which it compares (``assert_same_structure``, 2.4 to 2.14).
    finds_by_device = False

    #: Whether replicas run only what their results need, as a Session does, not all with an effect.
    runs_as_session = False

    def describe(self, system: Any, placement: Any, assignment: object) -> None:
        """Sets the slice, and the `DeviceAssignment` that `placement` follows, if any."""
        self.system = system
        self.placement = placement
        self.steps_per_run = 1
        self._device_assignment = assignment

    @property
    def num_hosts(self) -> int:
        """Number of hosts that feed the replicas."""
        return int(self.placement.num_hosts)

    @property
    def num_replicas_per_host(self) -> int:
        """Number of replicas that one host feeds."""
        return int(self.placement.num_replicas // self.placement.num_hosts)

    @property
    def device_assignment(self) -> object:
        """The `DeviceAssignment` that was passed to the strategy, or None."""
        return self._device_assignment

    @property
    def tpu_hardware_feature(self) -> object:
        """The units that cores have beside their own (TensorFlow 2.9): none."""
        return tpu.no_hardware_feature()

    def get_host(self, host_id: int) -> str:
        """The device string of host `host_id`, 0 to ``num_hosts - 1``."""
        return "/job:localhost/replica:0/task:%d" % host_id

    def get_host_cpu_device(self, host_id: int) -> str:
        """The CPU device string of host `host_id`."""
        return self.get_host(host_id) + "/device:CPU:0"

    @contextlib.contextmanager
    def experimental_logical_device(self, logical_device_id: int) -> Iterator[Any]:
        """Context manager: does nothing, as a replica computes on one device; refuses wrong ids."""
        count = self.placement.logical_devices
        if logical_device_id not in range(count):
            raise ShardingError(
                "logical_device_id=%r" % (logical_device_id,),
                "the device assignment gives each replica %d logical device(s)" % count,
                "an integer from 0 to %d" % (count - 1),
            )
        yield

    def tpu_run(self, fn: Fn, args: Args, kwargs: Kwargs, unused_options: Any = None) -> Nest:
        """Runs `fn` on every replica; the native ``TPUStrategy.run`` calls this."""
        own: Any = self
        return own.call_for_each_replica(fn, args=args, kwargs=kwargs)

    def over_hosts(self, unused_reduce_op: object, values: list[Any]) -> list[Any]:
        """Reduces over all hosts what was reduced over the cores of this process: here, of all."""
        return values

    def reduce_along(self, reduce_op: object, value: object, axis: object) -> Tensor:
        """`value` reduced over replicas and along `axis`; see `Strategy`."""
        own: Any = self
        return reductions.along(own, reduce_op, value, axis)

    def _experimental_run_steps_on_iterator(
        self, fn: Fn, iterator: object, iterations: object, initial_loop_values: object = None
    ) -> Nest:
        """Runs the stateful ops of a step too which nothing depends on."""
        own, native = cast("Extended", self), cast(Any, super())
        if keras_loops.is_of_keras(fn):
            return keras_loops.run_steps(own, fn, iterator, iterations)
        return native._experimental_run_steps_on_iterator(
            device_loop.with_effects(fn), iterator, iterations, initial_loop_values
        )

    def _update_single(self, var: object, fn: Fn, args: Args, kwargs: Kwargs, group: bool) -> Nest:
        """Updates a variable that no strategy created."""
        own: Any = self
        with distributed.update_context(own, 0):
            own_args, own_kwargs = distributed.select_mirrored(own, 0, (args, kwargs))
            result = fn(var, *own_args, **own_kwargs)
        return result if group else (result,)


class VirtualExtended(NamedSlice, distributed.MirroredExtended):
    """Replicas of one virtual slice, a `VirtualSystem`, with a `placement.Placement`.

    `device`, by default the first CPU, computes. `place` gives a context that places ops on it, and
    `rename_device` the real device of an op that is pinned to a core or a host.
    """

    #: The name of this process, with which those of its devices begin, and its task.
    here, own_task = "/job:localhost/replica:0/task:0", 0

    #: How many hosts this process stands for; None for all.
    own_hosts: int | None = None

    #: Whether a replica function that assigns a variable without aggregation
    #: gives each replica a copy of it.
    splits_variables = True

    #: The `per_replica_trace.Replicas` that are being traced one by one, if any.
    replicas = None

    #: Whether a replica function may ask in Python which replica it is, as contrib's.
    numbers_in_python = False

    def __init__(
        self,
        strategy: Strategy,
        system: Any,
        placement: Any,
        device: Any = None,
        assignment: Any = None,
    ) -> None:
        self.describe(system, placement, assignment)
        self.host = self.here + "/device:CPU:0"
        self.real_device = device or self.host
        self._renamed: dict[str, str] = {}
        self.updates_copies = False
        self.replica_ids = None
        self.explanations: collections.deque[Any] = collections.deque(maxlen=100)
        self._tpu_devices = np.array(
            [[self.here + "/device:TPU:%d" % core for core in cores] for cores in self.own_cores()],
            dtype=object,
        )
        self._start(strategy, tuple(self._tpu_devices[:, 0]))

    def own_cores(self) -> Sequence[tuple[int, ...]]:
        """The cores of each replica of this process: numbers on the slice, or on this host."""
        return list(self.placement.cores)

    def _start(self, strategy: Strategy, labels: tuple[str, ...]) -> None:
        """Calls TensorFlow's constructor; `labels` are the names of the replicas' cores."""
        strategy._collective_key_base = 0  # the native constructor reads it
        super().__init__(strategy, devices=labels)

    def explain(self) -> str:
        """Explains how the step functions that were traced so far, the last 100, are computed.

        Context: any. In a TensorFlow 1 graph and before TensorFlow 2.4 nothing is batched but
        the steps of a TPUEstimator and, from 1.14, of `run_steps_on_dataset`.

        Returns:
          A str: for each function the share of its ops that is done once for all replicas,
          the ops that are done once per replica with file, line and reason, and the cost.
        """
        return explanations.report(self.explanations)

    # Set-up and input: the native class calls these.

    def _initialize_strategy(self, devices: Any, *unused_args: Any, **unused_kwargs: Any) -> None:
        inputs.set_devices(self, devices, self.host)

    def _use_merge_call(self) -> bool:
        return True

    def _input_workers_with_options(self, options: object = None) -> object:
        return inputs.workers(self, options)

    def _experimental_distribute_dataset(self, dataset: Any, *options: Any) -> DistributedDataset:
        make = super()._experimental_distribute_dataset
        return inputs.distribute(make, self, dataset, *options)

    def _distribute_datasets_from_function(
        self, dataset_fn: Fn, *options: Any
    ) -> DistributedDataset:
        make = super()._distribute_datasets_from_function
        return inputs.distribute_from_function(make, self, dataset_fn, *options)

    def _experimental_distribute_datasets_from_function(
        self, dataset_fn: Fn, *options: Any
    ) -> DistributedDataset:
        # The name of the method above until 2.3.
        make = super()._experimental_distribute_datasets_from_function
        return inputs.distribute_from_function(make, self, dataset_fn, *options)

    def _make_dataset_iterator(self, dataset: object) -> DataIterator:
        return inputs.make_dataset_iterator(super()._make_dataset_iterator, self, dataset)

    def _make_input_fn_iterator(
        self, input_fn: Fn, *unused_mode: Any, **unused_options: Any
    ) -> DataIterator:
        return inputs.make_input_fn_iterator(super()._make_input_fn_iterator, self, input_fn)

    # Replica context.

    def _call_for_each_replica(self, fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
        alone = keras_loops.replica_of(self)
        if alone is not None:
            return keras_loops.call_in_replica(alone, fn, args, kwargs)
        return replicate.call_for_each_replica(self, fn, args, kwargs or {})

    # Variables.

    @property
    def _use_var_policy(self) -> bool:
        """Whether TensorFlow wraps variables in a class of its own: never here."""
        return False

    @_use_var_policy.setter
    def _use_var_policy(self, unused: object) -> None:
        pass

    def _create_variable(self, next_creator: Fn, *args: Any, **kwargs: Any) -> Value:
        # TensorFlow's packed handle is for replicas on devices of their own.
        self._container_strategy()._enable_packed_variable_in_eager_mode = False
        return storage.create(self, next_creator, kwargs)

    def _local_results(self, value: object) -> Sequence[Any]:
        return splits.copies_of_nest(value, super()._local_results(value))

    def _unwrap(self, value: object) -> Nest:  # its name in 1.13
        return splits.copies_of_nest(value, super()._unwrap(value))

    # Cross-replica context.

    def _reduce_to(
        self, reduce_op: Any, value: Any, destinations: Any, *unused: Any, **unused_hints: Any
    ) -> Nest:
        if distributed.is_mirrored(value) and reduce_op == tf.distribute.ReduceOp.MEAN:
            return value
        if not distributed.is_distributed(value):
            return distributed.reduce_plain(self, reduce_op, value, destinations)
        with self.place():
            [reduced] = self.over_hosts(reduce_op, [merge.combine(reduce_op, value, destinations)])
            return reductions.spread(self, reduced, destinations)

    def _batch_reduce_to(
        self, reduce_op: Any, pairs: Any, *unused_options: Any, **unused_hints: Any
    ) -> list[Any]:
        return [self._reduce_to(reduce_op, value, destinations) for value, destinations in pairs]

    def _broadcast_to(self, tensor: Tensor, destinations: object) -> Nest:
        if isinstance(tensor, (float, int)):
            return tensor
        with self.place():
            sent = distributed.to_broadcast(tensor, destinations)
            return reductions.mirror(self, sent, len(self.worker_devices))

    def _gather_to_implementation(
        self, value: object, destinations: object, axis: int, *unused: Any
    ) -> Nest:
        if not distributed.is_distributed(value):
            return value
        with self.place(), function_graphs.named("AllGather"):
            gathered = tf.concat(distributed.components(value), axis)
            return reductions.spread(self, gathered, destinations)

    def _update(self, var: Any, fn: Fn, args: Args, kwargs: Kwargs, group: bool) -> Nest:
        if not distributed.is_distributed(var):
            with self.place():
                return self._update_single(var, fn, args, kwargs, group)
        once = stored_once.is_stored_once(var)
        if once and any(map(merge.differs, nests.flatten((args, kwargs)))):
            splits.split(var)
            once = False
        elif once:
            merge.note_update(var)
        targets = [(target,) for target in distributed.components(var)]
        return self._update_copies(targets, once, fn, args, kwargs, group)

    def _update_non_slot(
        self, colocate_with: object, fn: Fn, args: Args, kwargs: Kwargs, group: bool
    ) -> Nest:
        targets = [() for _ in self.worker_devices]
        return self._update_copies(targets, True, fn, args, kwargs, group)

    def _update_copies(
        self, targets: Any, once: Any, fn: Fn, args: Args, kwargs: Kwargs, group: bool
    ) -> Nest:
        updates = []
        before, self.updates_copies = self.updates_copies, not once
        try:
            for i, target in enumerate(targets[:1] if once else targets):
                scope = tf.name_scope("update_%d" % i)
                with distributed.update_context(self, i), self.place(), scope:
                    own_args, own_kwargs = distributed.select_mirrored(self, i, (args, kwargs))
                    updates.append(fn(*target, *own_args, **own_kwargs))
        finally:
            self.updates_copies = before
        if not once:
            return distributed.update_regroup(self, updates, group)
        with self.place():
            if not group:
                repeated = reductions.repeat(updates[0], len(targets))
                return distributed.update_regroup(self, repeated, group)
            return nests.map_structure(
                lambda leaf: (
                    reductions.mirror(self, tf.identity(leaf), len(targets))
                    if reductions.is_value(leaf)
                    else leaf
                ),
                updates[0],
            )

    # Legacy code pins ops to cores and hosts of a TPU; here they exist in name only.

    @contextlib.contextmanager
    def place(self) -> Iterator[Any]:
        """Places ops on the real device, whatever replica label is current.

        In a graph the eager context keeps the label, by which old releases cache nested functions.
        """
        if tf.executing_eagerly():
            with tf.device(self.real_device):
                yield
            return
        graph = tf.compat.v1.get_default_graph()
        is_placed = graph._device_functions_outer_to_inner[-1:] == [self._place_op]
        with contextlib.nullcontext() if is_placed else graph.device(self._place_op):
            yield

    def _place_op(self, op: Operation) -> str:
        return self.rename_device(op) or self.real_device

    def rename_device(self, op: Operation) -> str:
        """The real device of an op that is pinned to a core or a host, a device function."""
        name = op.device
        if name not in self._renamed:
            task = _TASK.search(name)
            real = self.host if task and int(task.group(1)) != self.own_task else name
            self._renamed[name] = self.real_device if "device:TPU:" in name else real
        return self._renamed[name]
