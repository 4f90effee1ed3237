"""Runs a strategy's operations on devices, one for each TPU core.

TensorFlow's own mirrored strategies do the work: a replica computes on a GPU, or on a logical
CPU, a variable has a copy on each, and TensorFlow's collectives (NCCL between GPUs) add them.
The devices are those of this machine, or of all workers of a cluster.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

import tensorflow as tf

from tpudist.backends import replica_numbers, step_loops
from tpudist.backends.backend import Backend
from tpudist.strategy import base_classes
from tpudist.tfcompat import devices, distributed, distributed_values, functions
from tpudist.virtual import device_loop, keras_loops, named_slice, reductions
from tpudist.virtual.replicas import replicate
from tpudist.virtual.trace import dependencies, function_graphs

if TYPE_CHECKING:
    from tpudist.annotations import Args, Assignment, Context, Fn, Integer, Kwargs, Options
    from tpudist.backends.step_loops import Outputs
    from tpudist.tfcompat.annotations import Nest, Strategy, Value
    from tpudist.virtual.system import VirtualSystem


_CORE = re.compile(r"/device:TPU:([0-9]+)$")
_TASK = re.compile(r"/task:([0-9]+)")


class DevicesExtended(named_slice.NamedSlice, distributed.MirroredExtended):
    """Extends TensorFlow's mirrored strategies by what code of the TPU eras does.

    Attributes:
      cores: the devices of this process that stand for cores.
      host: its CPU.
      own_task: its number among the hosts.
    """

    cores: Sequence[str]
    host = devices.HOST
    own_task = 0

    _numbers: replica_numbers.ReplicaNumbers | None = None

    #: Whether distributed values give the copy of a device, as those of contrib do.
    finds_by_device = False

    #: Whether a step runs only what its results need (see `VirtualExtended.runs_as_session`).
    runs_as_session = False

    #: Whether a replica function has summed over replicas (see `VirtualExtended.sums_replicas`).
    sums_replicas = False

    def explain(self) -> str:
        """Says how step functions are computed (see `VirtualExtended.explain`)."""
        return "TensorFlow's mirrored strategy computes each replica on a device of its own: %s" % (
            ", ".join(self.worker_devices)
        )

    def place(self) -> Context:
        """Context manager: ops are on the first replica's device (see `VirtualExtended.place`)."""
        return tf.device(self.worker_devices[0])

    def rename_device(self, op: Any) -> str:
        """A device function: the device that computes an op which is pinned to a core or a host."""
        core = _CORE.search(op.device)
        if core and int(core.group(1)) < len(self.cores):
            return self.cores[int(core.group(1))]
        task = _TASK.search(op.device)
        return self.host if task and int(task.group(1)) != self.own_task else op.device

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Value:
        """Makes a variable outside of the loop of steps that is being traced."""
        if kwargs.get("trainable") is None:  # TensorFlow would list each copy as one to train
            on_read = tf.VariableSynchronization.ON_READ
            kwargs["trainable"] = kwargs.get("synchronization") != on_read
        with function_graphs.outside(kwargs):
            return super()._create_variable(next_creator, **kwargs)

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Nest:
        """Runs the replicas; each draws random numbers of its own."""
        alone = keras_loops.replica_of(self)
        if alone is not None:
            return keras_loops.call_in_replica(alone, fn, args, kwargs)
        if keras_loops.is_of_keras(fn):
            fn = keras_loops.building_alone(fn)
        if functions.is_function(fn):
            return replicate.call_in_function(self, fn, args, kwargs)
        if not tf.executing_eagerly():
            self._numbers = self._numbers or replica_numbers.ReplicaNumbers(self)
            fn = self._numbers.numbered(fn)
        if not self.runs_as_session:
            return super()._call_for_each_replica(fn, args, kwargs)
        graph = tf.compat.v1.get_default_graph()
        start = len(graph.get_operations())
        results = super()._call_for_each_replica(fn, args, kwargs)
        dependencies.prune_ops(graph, graph.get_operations()[start:], results)
        return results

    def _experimental_run_steps_on_iterator(
        self, fn: Callable[..., Any], iterator: Any, iterations: Any, initial_values: Any = None
    ) -> Nest:
        """Runs the stateful ops of a step too which nothing depends on."""
        if keras_loops.is_of_keras(fn):
            return keras_loops.run_steps(self, fn, iterator, iterations)
        return super()._experimental_run_steps_on_iterator(
            device_loop.with_effects(fn), iterator, iterations, initial_values
        )

    def over_hosts(self, unused_reduce_op: object, values: list[Any]) -> list[Any]:
        """Reduces over all hosts what was reduced over the cores of this process: here, of all."""
        return values

    def reduce_along(self, reduce_op: object, value: object, axis: object) -> Nest:
        """`value` reduced over replicas and along `axis`; see `Strategy`."""
        return reductions.along(self, reduce_op, value, axis)

    def _broadcast_to(self, tensor: object, destinations: object) -> Nest:
        """Broadcasts lists and arrays too."""
        return super()._broadcast_to(distributed.to_broadcast(tensor, destinations), destinations)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any, *options: Any) -> Nest:
        """Reduces a plain value too."""
        if not distributed.is_distributed(value):
            return distributed.reduce_plain(self, reduce_op, value, destinations, *options)
        if reduce_op == tf.distribute.ReduceOp.SUM or not distributed.is_mirrored(value):
            value = self._as_tensors(value, destinations)
        return super()._reduce_to(reduce_op, value, destinations, *options)

    def _batch_reduce_to(self, reduce_op: Any, pairs: Any, *options: Any) -> list[Nest]:
        """Reduces one tensor that all replicas hand over as a value of each."""
        as_tensors = []
        for value, destinations in pairs:
            plain = not distributed.is_distributed(value)
            tensors = (
                distributed.on_each(self, value) if plain else self._as_tensors(value, destinations)
            )
            own = destinations is value or plain and not distributed.is_distributed(destinations)
            as_tensors.append((tensors, tensors if own else destinations))
        return super()._batch_reduce_to(reduce_op, as_tensors, *options)

    def _as_tensors(self, value: object, destinations: object) -> Nest:
        """`value`, with a tensor of each replica's in place of a variable, number or array."""
        parts = distributed.components(value)
        if all(map(distributed.is_tensor_like, parts)) and not distributed.is_mirrored(value):
            return value
        tensors = [distributed.as_tensor(part, destinations) for part in parts]
        return distributed.per_replica(self, [tf.identity(tensor) for tensor in tensors])

    def _update(
        self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Nest:
        """Updates a variable that no strategy created, once."""
        if distributed.is_distributed(var):
            return super()._update(var, fn, args, kwargs, group)
        with distributed.update_context(self, 0):
            result = fn(
                var,
                *distributed.select_mirrored(self, 0, args),
                **distributed.select_mirrored(self, 0, kwargs),
            )
        return result if group else (result,)


class MirroredExtended(DevicesExtended):
    """TensorFlow's ``MirroredExtended``, on the devices that stand for the cores of a slice.

    A replica computes on the first core of its `placement.Placement`.
    """

    def __init__(
        self, strategy: Strategy, system: VirtualSystem, placement: Any, assignment: Assignment
    ) -> None:
        self.describe(system, placement, assignment)
        self.cores = devices.provided(system.kind, system.cores)
        strategy._collective_key_base = 0  # TensorFlow's constructor reads it
        own = [self.cores[cores[0]] for cores in placement.cores]
        super().__init__(strategy, own, cross_device_ops=distributed.adds_between(system.kind))

    def _get_cross_device_ops(self, *value: Any) -> object:
        """Returns how values are added; NCCL would wait for later ops in eager mode."""
        if tf.executing_eagerly():
            return distributed.adds_between("CPU")
        return super()._get_cross_device_ops(*value)


class MirroredBackend(Backend):
    """TensorFlow's mirrored strategies."""

    __slots__ = ()

    annotates_with_ops = False

    @property
    def system(self) -> VirtualSystem:
        """See the base class."""
        return self.extended.system

    def run(self, fn: Fn, args: Args, kwargs: Kwargs, options: Options) -> Nest:
        """See the base class; options have no effect."""
        with distributed.scope_if_needed(self.scope):
            return self.replicate(functions.convert(fn), args, kwargs or {})

    def replicate(self, fn: Fn, args: Args, kwargs: Mapping[str, Any]) -> Nest:
        """See the base class."""
        results = self.extended.call_for_each_replica(fn, args=args, kwargs=kwargs)
        return distributed_values.found_by_device(
            self.extended, distributed.as_per_replica(self.extended, results)
        )

    def run_steps(
        self, fn: Fn, iterator: Any, iterations: Integer, initial_values: Any, outputs: Outputs
    ) -> Outputs:
        """See the base class."""
        return step_loops.run(self.strategy, fn, iterator, iterations, initial_values, outputs)

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """See the base class. A graph places ops that are pinned to a core on its device."""
        with contextlib.ExitStack() as stack:
            if not tf.executing_eagerly() and not tf.distribute.has_strategy():
                graph = tf.compat.v1.get_default_graph()
                stack.enter_context(graph.device(self.extended.rename_device))
            yield stack.enter_context(base_classes.native(self.strategy).scope())

    def mirror(self, value: object, copies: int) -> Nest:
        """See the base class."""
        if copies == 1:
            return value
        parts = []
        for device in self.extended.worker_devices[:copies]:
            with tf.device(device):
                parts.append(tf.identity(value))
        return distributed.mirrored(self.extended, parts)

    def pipeline_devices(self) -> list[str]:
        """See the base class; all hosts are this machine."""
        return [self.extended.host] * self.extended.num_hosts

    @property
    def logical_devices(self) -> int:
        """See the base class."""
        return self.extended.placement.logical_devices

    def configure(
        self, session_config: Any, cluster_spec: object, task_type: str | None, task_id: int | None
    ) -> None:
        """See the base class; the devices are in this process, without cluster or task."""
        if session_config is not None:
            session_config.isolate_session_state = True
            devices.configure(session_config)
