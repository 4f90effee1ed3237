"""Describes slices to the compiler; what slices there are is in :mod:`tpudist.surfaces.slices`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.errors import TopologyError
from tpudist.surfaces import slices

if TYPE_CHECKING:
    from typing import Any

    from tpudist.surfaces.slices import Slice


def options(slice_: Slice) -> dict[str, Any]:
    """Returns what libtpu needs beside the name: the chip's cores, the host's chips, the rings.

    Args:
      slice_: a `slices.Slice`.

    Returns:
      A dict of JSON types. It has "chip_config_name" where a chip of two
      TensorCores is one device, which libtpu would otherwise make two.
    """
    attributes: dict[str, Any] = {"chips_per_host_bounds": list(slice_.host)}
    if slice_.generation == "v4":
        attributes["chip_config_name"] = "megacore"
    wrap = _rings(slice_)
    if any(wrap):
        attributes["wrap"] = wrap + [0] * (3 - len(wrap))
    return attributes


def _rings(slice_: Slice) -> list[int]:
    """Returns 1 for each axis whose ends are connected, else 0.

    A slice of two axes has a ring along an axis that is as long as its pod. One of
    three axes is made of cubes, and its ends are connected if all cubes are whole.
    """
    ring = slice_.about.ring
    if slice_.about.axes == 2:
        return [int(chips == ring) for chips in slice_.shape]
    return [int(all(chips % ring == 0 for chips in slice_.shape))] * 3


#: The generation whose devices have the most memory.
_MOST_MEMORY = "v5p"


def with_more_memory(slice_: Slice, devices: int) -> Slice | None:
    """Returns the smallest slice with enough devices, each with more memory than here.

    Args:
      slice_: to be compared with.
      devices: that a program runs on.

    Returns:
      A `slices.Slice`; None if there is none.
    """
    for number in sorted(slices.accelerator_types(_MOST_MEMORY)):
        candidate = slices.find("%s-%d" % (_MOST_MEMORY, number))
        if candidate.devices >= devices:
            return candidate if candidate.about.hbm > slice_.about.hbm else None
    return None


def check(slice_: Slice, replicas: int, partitions: int) -> None:
    """Refuses a program that does not fit on a slice, before any compiler runs.

    Args:
      slice_: a `slices.Slice`.
      replicas: of the program.
      partitions: logical devices of each.

    Raises:
      TopologyError: the slice has too few devices.
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
            "they need %d devices, and it has %s" % (replicas * partitions, _device_count(slice_)),
            "%d replicas, or a larger slice" % (slice_.devices // partitions)
            if slice_.devices >= partitions
            else "fewer logical devices, or a larger slice",
        )


def _device_count(slice_: Slice) -> str:
    """Formats the number of devices; says why they are fewer than the cores, if they are."""
    if slice_.devices == slice_.cores:
        return str(slice_.devices)
    return "%d, each a chip whose two TensorCores are one device" % slice_.devices
