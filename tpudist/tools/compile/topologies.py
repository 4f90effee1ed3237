"""Slices as the compiler is told of them; what they are is in :mod:`tpudist.surfaces.slices`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.errors import TopologyError
from tpudist.surfaces import slices

if TYPE_CHECKING:
    from typing import Any

    from tpudist.surfaces.slices import Slice


def options(slice_: Slice) -> dict[str, Any]:
    """What libtpu is told beside the name: the chip's cores, the host's chips, the rings.

    Args:
      slice_: a `slices.Slice`.

    Returns:
      A dict of JSON types. "chip_config_name" is there where a chip of two
      TensorCores is one device and libtpu would make it two.
    """
    made: dict[str, Any] = {"chips_per_host_bounds": list(slice_.host)}
    if slice_.generation == "v4":
        made["chip_config_name"] = "megacore"
    wrap = _rings(slice_)
    if any(wrap):
        made["wrap"] = wrap + [0] * (3 - len(wrap))
    return made


def _rings(slice_: Slice) -> list[int]:
    """Along which axes the ends are connected.

    A flat slice has a ring where it is as long as its pod; a solid one is made
    of cubes, whose ends are connected if there is nothing but whole cubes.
    """
    ring = slice_.about.ring
    if slice_.about.axes == 2:
        return [int(chips == ring) for chips in slice_.shape]
    return [int(all(chips % ring == 0 for chips in slice_.shape))] * 3


#: The generation whose devices have the most memory.
_ROOMY = "v5p"


def with_room(slice_: Slice, devices: int) -> Slice | None:
    """A slice whose devices have more memory, the smallest with so many.

    Args:
      slice_: to be compared with.
      devices: that a program runs on.

    Returns:
      A `slices.Slice`; None if there is none.
    """
    for number in sorted(slices.accelerator_types(_ROOMY)):
        found = slices.find("%s-%d" % (_ROOMY, number))
        if found.devices >= devices:
            return found if found.about.hbm > slice_.about.hbm else None
    return None


def check(slice_: Slice, replicas: int, partitions: int) -> None:
    """Refuses what does not fit on a slice, before any compiler runs.

    Args:
      slice_: a `slices.Slice`.
      replicas: of the program.
      partitions: logical devices of each.

    Raises:
      TopologyError: it has not enough devices.
    """
    if replicas < 1 or partitions < 1:
        raise TopologyError(
            "%d replicas of %d logical devices" % (replicas, partitions),
            "a program has at least one of each",
            "positive numbers of both",
        )
    if replicas * partitions > slice_.devices:
        raise TopologyError(
            "%d replicas x %d logical devices on %s" % (replicas, partitions, slice_.name),
            "they need %d devices, and it has %s" % (replicas * partitions, _counted(slice_)),
            "%d replicas, or a larger slice" % (slice_.devices // partitions)
            if slice_.devices >= partitions
            else "fewer logical devices, or a larger slice",
        )


def _counted(slice_: Slice) -> str:
    """The slice's devices; and why they are fewer than its cores, if they are."""
    if slice_.devices == slice_.cores:
        return str(slice_.devices)
    return "%d, each a chip whose two TensorCores are one device" % slice_.devices
