"""Describes the slice of a virtual TPU: its cores, hosts and mesh. No TensorFlow."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tpudist.errors import TopologyError, TPUNameError
from tpudist.surfaces import slices

#: The largest number of cores of ``virtual:N``.
_MAX_CORES = 4096


#: What stands before the devices of each worker of a cluster.
_CLUSTER = "cluster:"

#: The names whose cores are devices of a machine, by the kind of device.
_OF_DEVICES = re.compile(r"^(?:(gpu)s(?::[0-9]+)?|(cpu)s:[0-9]+)$")


class VirtualSystem(NamedTuple):
    """A slice that exists in name only.

    Attributes:
      name: the TPU name that describes it, e.g. ``"virtual:v3-32"``.
      cores: number of cores in all, as TensorFlow counts them (a chip of v4 or v5p is one).
      hosts: number of hosts, which are the workers of a cluster.
      mesh: (x, y, z, cores per chip); its product is `cores`.
      kind: "GPU" or "CPU" if each core is such a device of a machine, else None.
    """

    name: str
    cores: int
    hosts: int
    mesh: tuple[int, ...]
    kind: Any = None

    @property
    def cores_per_host(self) -> int:
        """Cores that one host serves."""
        return self.cores // self.hosts

    @property
    def slice(self) -> slices.Slice | None:
        """The slice of that name; None if the name only counts cores, or devices."""
        size = devices_of(self.name).partition(":")[2]
        return slices.find(size) if self.kind is None and not size.isdigit() and size else None

    @property
    def is_cluster(self) -> bool:
        """Whether each host is a process of its own."""
        return is_cluster(self.name)


def is_virtual(name: object) -> bool:
    """Whether a name, in any case, asks for what stands for a TPU: a virtual one, or devices."""
    return isinstance(name, str) and (
        is_cluster(name) or devices_of(name).partition(":")[0] == "virtual" or bool(kind_of(name))
    )


def is_cluster(name: object) -> bool:
    """Whether a TPU name asks for the devices of all workers of a cluster."""
    return isinstance(name, str) and (name.lower() + ":").startswith(_CLUSTER)


def devices_of(name: str) -> str:
    """The devices that each worker of a cluster has, such as ``"cpus:4"``; else the name."""
    name = name.lower()
    if name == "cluster":
        return "gpus"
    return name[len(_CLUSTER) :] if is_cluster(name) else name


def of_one_host(name: str) -> str:
    """Returns the `tpu=` name of the cores that each worker of the cluster `name` has."""
    devices = devices_of(name)
    return devices if kind_of(name) else "virtual:%d" % parse(name).cores_per_host


def kind_of(name: str) -> str | None:
    """The devices that a name asks for as cores: "GPU", "CPU", or None for a virtual TPU."""
    found = _OF_DEVICES.match(devices_of(name))
    return (found.group(1) or found.group(2)).upper() if found else None


def check(name: object) -> None:
    """Refuses the name of an impossible virtual TPU; accepts all other names."""
    if is_virtual(name):
        parse(name)


def parse(name: Any, gpus: int = 1, workers: int | None = None) -> VirtualSystem:
    """The slice that a name such as ``virtual:8`` describes.

    ``"virtual"`` has 8 cores, ``"virtual:N"`` N of one host, ``"virtual:v3-32"`` those of a slice
    (see :func:`tpudist.surfaces.slices.find`). ``"gpus"``, of `gpus` cores, ``"gpus:N"`` and
    ``"cpus:N"`` have a core on each device of this machine. ``"cluster:"`` before any of these
    means the devices of each of `workers`, None if not known yet; before a slice, its hosts.
    """
    what, _, size = devices_of(name).partition(":")
    kind = kind_of(name)
    if is_cluster(name) and kind is None and what != "virtual":
        raise TPUNameError(
            "TPU name %r" % (name,),
            "the cores of a cluster are devices of each worker, or virtual ones",
            "'cluster:virtual:8', 'cluster:cpus:4', 'cluster:gpus:4', or 'cluster' for every GPU",
        )
    if kind is not None or size.isdigit() or devices_of(name) == "virtual":
        hosts = workers or 1 if is_cluster(name) else 1
        cores = int(size) if size else gpus if kind else 8
        return _plain(name, cores * hosts)._replace(kind=kind, hosts=hosts)
    try:
        slice_ = slices.find(size)
    except TopologyError as error:
        raise _unknown(name, "%s; %s" % (error.seen, error.why), error.instead) from error
    if is_cluster(name) and workers not in (None, slice_.hosts):
        raise _unknown(
            name,
            "it has %d hosts, and the cluster %d workers" % (slice_.hosts, workers),
            "'cluster:virtual:%d'" % (slice_.devices // slice_.hosts),
        )
    return VirtualSystem(name, slice_.devices, slice_.hosts, slice_.mesh)


def _plain(name: str, cores: int) -> VirtualSystem:
    if not 1 <= cores <= _MAX_CORES:
        raise _unknown(name, "a plain number is a core count from 1 to %d" % _MAX_CORES, "")
    per_chip = 2 if cores % 2 == 0 else 1
    chips = cores // per_chip  # in the squarest mesh
    y = max(d for d in range(1, int(chips**0.5) + 1) if chips % d == 0)
    return VirtualSystem(name, cores, 1, (chips // y, y, 1, per_chip))


def _unknown(name: str, why: str, instead: str) -> TPUNameError:
    names = "'virtual:8', or 'virtual:v3-32', a slice"
    return TPUNameError(
        "TPU name %r" % (name,), why, "%s; of slices %s" % (names, instead) if instead else names
    )
