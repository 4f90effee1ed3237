"""``get(device)`` of distributed values: TensorFlow's have it until 2.1.

Code of those releases takes the component of a device, or that of the replica that is
current, off what towers return, off what an update or a reduction gives, and off variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from tensorflow.python.distribute import device_util, values
from tensorflow.python.util import nest

from tpudist.errors import ArgumentError
from tpudist.tfcompat import versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Extended, Nest, T, Value


def position(devices: Sequence[str], device: str) -> int:
    """The replica id of a core's device.

    Args:
      devices: the replicas' devices.
      device: the name of one, of which job, replica and task may be left out.

    Raises:
      ArgumentError: (a ValueError) no replica is on that device.
    """
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
    PerReplica, Mirrored = values.PerReplica, values.Mirrored
else:

    class PerReplica(FoundByDevice, values.PerReplica):  # type: ignore[no-redef]
        """TensorFlow's ``PerReplica`` with ``get(device)``."""

    class Mirrored(FoundByDevice, values.Mirrored):  # type: ignore[no-redef]
        """TensorFlow's ``Mirrored`` with ``get(device)``."""


_CLASSES = {values.PerReplica: PerReplica, values.Mirrored: Mirrored}


def of(extended: Extended, structure: T) -> T:
    """A structure that TensorFlow has made, with `get` on the distributed values of contrib."""
    if not _finds_by_device(extended):
        return structure
    return nest.map_structure(lambda leaf: _found(extended, leaf), structure)


def _found(extended: Extended, leaf: Any) -> Nest:
    known = type(leaf) in _CLASSES
    return make(type(leaf), extended, leaf._values) if known else leaf


def make(cls: Any, extended: Extended, components: Sequence[Any]) -> Value:
    """A value of one of TensorFlow's classes; one that has `get`, of contrib's strategy."""
    if not _finds_by_device(extended):
        return cls(tuple(components))
    return _CLASSES[cls](tuple(components)).on(extended)


def _finds_by_device(extended: Extended) -> bool:
    """Whether values of a strategy have `get`, which only code of contrib's time calls.

    Elsewhere they are of TensorFlow's own classes: it compares the classes of what branches and
    loops take and give (``assert_same_structure`` of 2.4 to 2.14).
    """
    return not versions.BY_DEVICE and getattr(extended, "finds_by_device", False)
