"""Distributed values with more than TensorFlow's have: ``get(device)`` and errors that say more.

Code of TensorFlow until 2.1 takes the component of a device, or the current one, off what towers,
updates and reductions give, and off variables.

TensorFlow's ``PerReplica`` has no ``numpy()``, no arithmetic and no conversion to a tensor, and its
errors do not say what has these. The values of :func:`telling` differ in their errors alone, from
2.15 on: before, branches and loops compare the classes of what they take and give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NoReturn, Sequence

import tensorflow as tf
from tensorflow.python.distribute import device_util, values

from tpudist.errors import ArgumentError, PerReplicaUseError
from tpudist.tfcompat import nests, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Extended, Nest, T, Value


def position(devices: Sequence[str], device: str) -> int:
    """The replica id of a core's device, of whose name job, replica and task may be left out."""
    names = [device_util.canonicalize(each) for each in devices]
    wanted = device_util.canonicalize(device, names[0])
    if wanted not in names:
        raise ArgumentError(
            "get(%r)" % (device,),
            "the value has a component on each of %s" % ", ".join(names),
            "get(strategy.worker_devices[0]), or get() for the component that is current",
        )
    return names.index(wanted)


class FoundByDevice:
    """A distributed value with ``get(device)``."""

    _extended: Any = None
    _values: Sequence[Any]
    _get: Callable[[], Any]

    def on(self, extended: Extended) -> FoundByDevice:
        """Sets the strategy on whose devices the components are; returns itself."""
        self._extended = extended
        return self

    def get(self, device: str | None = None) -> Nest:
        """The component of a device, or the one that is current."""
        if device is None:
            return self._get()
        return self._values[position(self._extended.worker_devices, device)]


if versions.BY_DEVICE:
    PerReplicaByDevice, MirroredByDevice = values.PerReplica, values.Mirrored
else:

    class PerReplicaByDevice(FoundByDevice, values.PerReplica):  # type: ignore[no-redef]
        """TensorFlow's ``PerReplica`` with ``get(device)``."""

    class MirroredByDevice(FoundByDevice, values.Mirrored):  # type: ignore[no-redef]
        """TensorFlow's ``Mirrored`` with ``get(device)``."""


_CLASSES = {values.PerReplica: PerReplicaByDevice, values.Mirrored: MirroredByDevice}


def found_by_device(extended: Extended, structure: T) -> T:
    """A structure that TensorFlow has made, with `get` on the distributed values of contrib."""
    if not getattr(extended, "finds_by_device", False):
        return structure
    return nests.map_structure(
        lambda leaf: make(type(leaf), extended, leaf._values) if type(leaf) in _CLASSES else leaf,
        structure,
    )


def make(cls: Any, extended: Extended, components: Sequence[Any]) -> Value:
    """A value of one of TensorFlow's classes; one that has `get`, of contrib's strategy."""
    if not getattr(extended, "finds_by_device", False):
        return cls(tuple(components))
    return _CLASSES[cls](tuple(components)).on(extended)


#: Members of tensors and arrays.
_OF_ONE_TENSOR = frozenset("astype item max mean min numpy reshape size sum tolist".split()).union(
    dir(tf.Tensor)
)


def _refuse(use: str) -> NoReturn:
    raise PerReplicaUseError(
        "a per-replica value, such as strategy.run returns, is used as one tensor: %s" % use,
        PerReplicaUseError.WHY,
        PerReplicaUseError.INSTEAD,
    )


def _operator(name: str) -> Callable[..., Any]:
    def refused(self: object, *unused: Any) -> NoReturn:
        _refuse("by %s" % name)

    refused.__name__ = name
    return refused


class Telling:
    """A mixin of per-replica values whose use as one tensor says what to type."""

    def __getattr__(self, name: str) -> Any:
        if name in _OF_ONE_TENSOR and not name.startswith("_"):
            _refuse("by .%s" % name)
        raise AttributeError("%r object has no attribute %r" % (type(self).__name__, name))

    def __tf_tensor__(self, dtype: object = None, name: str | None = None) -> NoReturn:
        """Refuses to be converted, as the argument of an op."""
        _refuse("as an argument of an op")

    def __array__(self, *unused: Any, **unused_too: Any) -> NoReturn:
        """Refuses to be converted, by numpy."""
        _refuse("by numpy")

    def __format__(self, spec: str) -> str:
        return _refuse("by format(..., %r)" % spec) if spec else str(self)


_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor".split()
_OTHERS = "lt le gt ge neg pos abs invert float int getitem".split()
for _name in [*_BINARY, *("r" + each for each in _BINARY), *_OTHERS]:
    setattr(Telling, "__%s__" % _name, _operator("__%s__" % _name))


class _TellingPerReplica(Telling, values.PerReplica):
    """TensorFlow's ``PerReplica``, which says what to type."""

    @property
    def _type_spec(self) -> object:
        """TensorFlow's type, no subclass, as nests compare types; it makes our class."""
        spec = values.PerReplica._type_spec.fget(self)
        spec._from_components = self._of_components
        return spec

    def _of_components(self, components: object) -> Value:
        return _TellingPerReplica(components)


class _TellingByDevice(_TellingPerReplica, PerReplicaByDevice):  # type: ignore[misc,valid-type]
    """The same of contrib's strategy, with ``get(device)``."""

    def _of_components(self, components: object) -> Value:
        return _TellingByDevice(components).on(self._extended)


_TellingPerReplica.__name__ = _TellingByDevice.__name__ = "PerReplica"


def telling(structure: Nest) -> Nest:
    """A structure, with values that say what to type in place of TensorFlow's own."""

    def made(leaf: Any) -> Nest:
        if type(leaf) is values.PerReplica:
            return _TellingPerReplica(leaf._values)
        by_device = type(leaf) is PerReplicaByDevice
        return _TellingByDevice(leaf._values).on(leaf._extended) if by_device else leaf

    return nests.map_structure(made, structure) if versions.TYPE_SPECS_CAST else structure
