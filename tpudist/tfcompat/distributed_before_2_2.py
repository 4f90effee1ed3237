"""Distributed values of releases that find a component by its device.

In 1.13 a value is a dictionary from device to component; from 1.14 to 2.1 it
is a tuple with a device map. :mod:`tpudist.tfcompat.distributed` hides this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import tensorflow as tf
from tensorflow.python.distribute import device_util, distribute_lib, mirrored_strategy, values
from tensorflow.python.util import nest

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed_values, nests, versions

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tpudist.tfcompat.annotations import Extended, Nest, Strategy, T, Tensor, Value


if not versions.DEVICE_MAP:
    from tensorflow.contrib.tpu.python.tpu import tpu

_MORE = "/job:localhost/replica:0/task:0/device:TPU:%d"


def distributed(cls: Any, extended: Extended, components: Sequence[Any]) -> Value:
    """A value of class `cls` with one component per replica."""
    if versions.DEVICE_MAP:
        return cls(extended._device_map, tuple(components))
    return cls(_index(extended, components))


def _index(extended: Extended, components: Sequence[Any]) -> dict[str, Any]:
    """{device: component}, even for too many or too few components."""
    devices = list(extended.worker_devices)
    devices += [_MORE % i for i in range(len(devices), len(components))]
    return dict(zip(devices, components))


def components(value: Any) -> tuple[Any, ...]:
    """The components of a distributed value, in the order of the replicas."""
    if versions.DEVICE_MAP:
        return tuple(value._values)
    return tuple(value._index.values())


def position(value: Any, device: str) -> int:
    """The replica id of a device's component."""
    devices = value._device_map.all_devices if versions.DEVICE_MAP else list(value._index)
    return distributed_values.position(devices, device)


def select_mirrored(extended: Extended, replica_id: int, structure: T) -> T:
    """Replica `replica_id`'s component of every mirrored value."""
    device = extended.worker_devices[replica_id]
    return values.select_device_mirrored(device, structure)


def regroup(
    extended: Extended, results: Sequence[Nest], wrap_class: Any = values.PerReplica
) -> Nest:
    """One structure of distributed values from one structure per replica."""
    if versions.DEVICE_MAP:
        return values.regroup(extended._device_map, results, wrap_class)
    if wrap_class is not values.PerReplica:

        def wrap(index: Any) -> Nest:
            return wrap_class(extended, list(index.values()))

        return values.regroup(_index(extended, results), wrap)
    return values.regroup(_index(extended, results), wrap_class)


def update_regroup(extended: Extended, updates: Any, group: bool) -> Nest:
    """Regroups what an update function returned for each component."""
    wrap = _grouped_on_one_device if group else _mirrored
    if versions.DEVICE_MAP:
        regrouped = values.regroup(
            extended._device_map, tuple(updates), lambda _, parts: wrap(extended, parts)
        )
    else:
        regrouped = regroup(extended, tuple(updates), wrap)
    if group:
        return regrouped
    unwrap = extended._local_results if versions.DEVICE_MAP else extended._unwrap
    return nest.map_structure(unwrap, regrouped)


def _mirrored(extended: Extended, parts: Sequence[Any]) -> Value:
    return distributed(values.Mirrored, extended, parts)


def _grouped_on_one_device(extended: Extended, parts: Sequence[Any]) -> Nest:
    """Groups updates on one device: the native grouping would name the replicas' devices."""
    everything = tf.group(*parts)
    if not all(nests.is_tensor(part) for part in parts):
        return everything
    with extended.place(), tf.control_dependencies([everything]):
        return _mirrored(extended, [tf.identity(part) for part in parts])


def update_context(extended: Extended, replica_id: int) -> AbstractContextManager[Any]:
    """The context in which an update function sees one component."""
    return distribute_lib.UpdateContext(extended.worker_devices[replica_id])


def run_natively(
    strategy: Strategy, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Nest:
    """Runs `fn` on every core of a real TPU, as one computation (1.13)."""
    extended = strategy.extended
    flat = nest.flatten((args, kwargs))
    is_split = [
        isinstance(leaf, values.DistributedValues)
        and not isinstance(leaf, values.DistributedVariable)
        for leaf in flat
    ]
    inputs = [
        [components(leaf)[i] for leaf, split in zip(flat, is_split) if split]
        for i in range(extended._num_replicas_in_sync)
    ]
    structure: list[Nest] = []

    def replica(*tensors: Any) -> list[Any]:
        given = iter(tensors)
        own_args, own_kwargs = nest.pack_sequence_as(
            (args, kwargs), [next(given) if split else leaf for leaf, split in zip(flat, is_split)]
        )
        result = extended.call_for_each_replica(fn, own_args, own_kwargs)
        structure[:] = [result]
        return [
            tf.convert_to_tensor(leaf)
            for leaf in nest.flatten(result)
            if leaf is not None and not isinstance(leaf, tf.Operation)
        ]

    with strategy.scope():
        outputs = tpu.replicate(replica, inputs)
    if not isinstance(outputs[0], list):
        return tf.group(*outputs)
    return regroup(extended, [_packed(structure[0], each) for each in outputs])


def _packed(structure: Nest, tensors: Sequence[Tensor]) -> Nest:
    given = iter(tensors)
    return nest.map_structure(
        lambda leaf: None if leaf is None or isinstance(leaf, tf.Operation) else next(given),
        structure,
    )


if not versions.DEVICE_MAP:

    class _Labelled:
        """Finds components by device; of an unknown device the one being updated, or the first."""

        _index: Mapping[str, Any]

        def get(self, device: str | None = None) -> Nest:
            """The component for a device, the current one by default."""
            known = device is not None and (device_util.canonicalize(device) in self._index)
            if device is None and tf.distribute.has_strategy() or known:
                return super().get(device)  # type: ignore[misc]
            current = distribute_lib.get_update_device() or next(iter(self._index))
            return super().get(current)  # type: ignore[misc]

    class MirroredVariable(_Labelled, values.MirroredVariable):
        """A variable whose components are all assigned outside of any scope, where Keras trains."""

        def _assign_func(self, *args: Any, **kwargs: Any) -> Nest:
            if tf.distribute.has_strategy():
                return super()._assign_func(*args, **kwargs)
            f = kwargs.pop("f")
            first, *others = {id(part): part for part in components(self)}.values()
            with tf.control_dependencies([f(part, *args, **kwargs) for part in others]):
                return f(first, *args, **kwargs)

    class _ReplicaLocal(_Labelled, values.ReplicaLocalVariable):
        """A variable with a component per replica, which Keras of 1.13 uses without a scope."""

        def assign_add(self, *args: Any, **kwargs: Any) -> Nest:
            """Adds to the first replica's component in cross-replica context, if it is a sum."""
            summed = self._aggregation == tf.VariableAggregation.SUM
            if summed and not tf.distribute.get_replica_context():
                return self._primary_var.assign_add(*args, **kwargs)
            return self._in_a_replica(super().assign_add, args, kwargs)

        def assign_sub(self, *args: Any, **kwargs: Any) -> Nest:
            return self._in_a_replica(super().assign_sub, args, kwargs)

        def _in_a_replica(
            self, assign: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
        ) -> Nest:
            if tf.distribute.get_replica_context():
                return assign(*args, **kwargs)
            raise ContextError(
                "%s, which each replica has its own of, is updated across replicas" % self.name,
                "Keras of TensorFlow 1.13 trains on whole batches in a strategy's scope, and "
                "layers such as BatchNormalization on each replica's rows",
                "the model outside of the scope and model.compile(..., distribute=strategy), "
                "tf.contrib.tpu.keras_to_tpu_model, or TensorFlow 1.14 or newer",
            )

else:
    MirroredVariable = values.MirroredVariable  # type: ignore[misc]


def create_variable(
    extended: Extended,
    creator: Callable[..., Any],
    mirrored_class: object,
    sync_on_read_class: object,
    kwargs: Mapping[str, Any],
) -> Value:
    """See :func:`tpudist.tfcompat.distributed.create_distributed_variable`."""
    if not versions.DEVICE_MAP:
        made = mirrored_strategy._create_mirrored_variable(
            extended.worker_devices,
            lambda devices, *a, **k: dict(zip(devices, creator(**k))),
            **kwargs,
        )
        is_mirrored = isinstance(made, values.MirroredVariable)
        made.__class__ = mirrored_class if is_mirrored else _ReplicaLocal
        return made
    if versions.VALUES_CREATE_MIRRORED:
        create = values.create_mirrored_variable
    elif versions.CREATES_MIRRORED_PUBLICLY:
        create = distribute_lib.create_mirrored_variable
    else:
        create = mirrored_strategy._create_mirrored_variable
    strategy, classes = extended._container_strategy(), (mirrored_class, sync_on_read_class)

    def each(devices: object, *unused: Any, **named: Any) -> Any:
        return creator(**named)

    made = create(strategy, extended._device_map, 0, each, *classes, **kwargs)
    if isinstance(made, values.SyncOnReadVariable):
        made.__class__ = sync_on_read_class
        # TensorFlow 1.14 made it of its own class, in which this is no property yet.
        made._distribute_strategy = extended._container_strategy()
    elif isinstance(made, values.MirroredVariable):
        made.__class__ = mirrored_class
    return made
