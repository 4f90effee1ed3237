"""Runs a strategy's operations on devices, one for each TPU core.

TensorFlow's own mirrored strategies do the work: a replica computes on a GPU, or on a logical
CPU, a variable has a copy on each, and TensorFlow's collectives (NCCL between GPUs) add them.
The devices are those of this machine, or of all workers of a cluster.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import tensorflow as tf

from tpudist.backends import replica_numbers
from tpudist.backends.backend import Backend
from tpudist.tfcompat import devices, distributed, distributed_values, functions
from tpudist.virtual import extended, keras_loops
from tpudist.virtual.replicas import replicate
from tpudist.virtual.trace import dependencies, function_graphs

if TYPE_CHECKING:
    from tpudist.annotations import Args, Assignment, Context, Fn, Kwargs, Options
    from tpudist.tfcompat.annotations import Nest, Strategy, Value
    from tpudist.virtual.system import VirtualSystem


_CORE = re.compile(r"/device:TPU:([0-9]+)$")
_TASK = re.compile(r"/task:([0-9]+)")


class DevicesExtended(extended.NamedSlice, distributed.MirroredExtended):
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
        return self._update_single(var, fn, args, kwargs, group)


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

    def run(self, fn: Fn, args: Args, kwargs: Kwargs, options: Options) -> Nest:
        """See the base class; options have no effect."""
        with distributed.scope_if_needed(self.scope):
            return self.replicate(functions.convert(fn), args, kwargs or {})

    def replicate(self, fn: Fn, args: Args, kwargs: Mapping[str, Any]) -> Nest:
        results = self.extended.call_for_each_replica(fn, args=args, kwargs=kwargs)
        return distributed_values.found_by_device(
            self.extended, distributed.as_per_replica(self.extended, results)
        )

    def mirror(self, value: object, copies: int) -> Nest:
        if copies == 1:
            return value
        parts = []
        for device in self.extended.worker_devices[:copies]:
            with tf.device(device):
                parts.append(tf.identity(value))
        return distributed.mirrored(self.extended, parts)

    def configure(self, session_config: Any, *cluster_and_task: Any) -> None:
        super().configure(session_config, *cluster_and_task)
        if session_config is not None:
            devices.configure(session_config)
