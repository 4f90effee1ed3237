"""Assigns replicas to cores: topology and device assignment.

Reference: tf.tpu.experimental.Topology and DeviceAssignment. The pages of
TensorFlow 2.2 give shapes of 3 entries (x, y, core); from 2.3 on a topology
has 4 (x, y, z, core). Both are accepted on every release.
"""

from __future__ import annotations

import collections
import re
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from tpudist.errors import TopologyError
from tpudist.tfcompat import tpu as native
from tpudist.tfcompat import versions

if TYPE_CHECKING:
    from tpudist.annotations import Assignment
    from tpudist.tfcompat.annotations import Topology
    from tpudist.virtual.system import VirtualSystem


class Placement(
    collections.namedtuple("Placement", "num_replicas num_hosts logical_devices cores")
):
    """The assignment of a strategy's replicas to the cores of a slice.

    Attributes:
      num_replicas: replicas in sync.
      num_hosts: hosts that feed them.
      logical_devices: how many cores (logical devices) each replica has.
      cores: the cores of each replica, a tuple of their numbers on the slice.
    """

    __slots__ = ()


def topology(system: VirtualSystem) -> Topology:
    """The `Topology` of a virtual slice: x runs fastest, cores innermost.

    On releases with flat topologies, the layers of a cube lie side by side.
    """
    x, y, z, cores = system.mesh
    if versions.TOPOLOGY_RANK == 3:
        y, z = y * z, 1
    places = [
        (i, j, k, c) for k in range(z) for j in range(y) for i in range(x) for c in range(cores)
    ]
    coordinates = np.array(places, dtype=np.int32)
    mesh = [x, y, z, cores]
    if versions.TOPOLOGY_RANK == 3:
        coordinates, mesh = coordinates[:, [0, 1, 3]], [x, y, cores]
    shape = (system.hosts, system.cores_per_host, versions.TOPOLOGY_RANK)
    return native.Topology(mesh_shape=mesh, device_coordinates=coordinates.reshape(shape))


class DeviceAssignment(native.DeviceAssignment):
    """The cores of each replica; see ``tf.tpu.experimental``."""

    @staticmethod
    def build(
        topology: Any,
        computation_shape: Sequence[int] | None = None,
        computation_stride: Sequence[int] | None = None,
        num_replicas: int = 1,
    ) -> DeviceAssignment:
        """Assigns `num_replicas` blocks of cores.

        Args:
          topology: what `initialize_tpu_system` returned.
          computation_shape: cores of one replica along each axis of the mesh:
            3 entries (x, y, core) or 4 (x, y, z, core); one core if None.
          computation_stride: distance between cores, in the same form.
          num_replicas: number of replicas.

        Returns:
          A `DeviceAssignment`.

        Raises:
          TopologyError: the shape does not divide the mesh, or the replicas
            do not fit.
        """
        shape = _adapt(computation_shape, "computation_shape")
        stride = _adapt(computation_stride, "computation_stride")
        _check(topology, shape, num_replicas)
        try:
            made = native.assign_devices(topology, shape, stride, num_replicas)
        except ValueError as error:
            raise TopologyError(
                "DeviceAssignment.build(computation_shape=%s, num_replicas=%s)"
                % (computation_shape, num_replicas),
                str(error),
                "fewer replicas or a smaller shape; the mesh is %s" % list(topology.mesh_shape),
            ) from error
        return DeviceAssignment(topology, made.core_assignment)


def _adapt(entries: Sequence[int] | None, what: str) -> list[int] | None:
    """`entries` with as many entries as this release's topologies."""
    if entries is None:
        return None
    entries = [int(entry) for entry in entries]
    if len(entries) not in (3, 4):
        raise TopologyError(
            "%s=%s" % (what, entries),
            "a mesh has axes (x, y, core) or (x, y, z, core)",
            "%s=[1, 1, 2], or [1, 1, 1, 2]" % what,
        )
    if len(entries) == versions.TOPOLOGY_RANK:
        return entries
    if versions.TOPOLOGY_RANK == 4:
        return entries[:2] + [1] + entries[2:]
    if entries[2] != 1:
        raise TopologyError(
            "%s=%s" % (what, entries), "TensorFlow %s knows no z axis" % versions.TF, "z = 1"
        )
    return entries[:2] + entries[3:]


def _check(topology: Any, shape: list[int] | None, num_replicas: int) -> None:
    mesh = list(topology.mesh_shape)
    if shape is None:
        shape = [1] * len(mesh)
    if any(s < 1 or m % s for s, m in zip(shape, mesh)):
        raise TopologyError(
            "computation_shape=%s on a mesh of %s" % (shape, mesh),
            "each entry must divide the mesh along its axis",
            "a shape such as %s" % ([1] * (len(mesh) - 1) + [mesh[-1]]),
        )
    fits = int(np.prod(mesh) // np.prod(shape))
    if not 1 <= num_replicas <= fits:
        raise TopologyError(
            "num_replicas=%s of shape %s" % (num_replicas, shape),
            "the mesh %s has room for 1 to %d such replicas" % (mesh, fits),
            "num_replicas=%d" % fits,
        )


def on_slice(
    system: VirtualSystem, num_cores: int | None = None, assignment: Assignment = None
) -> Placement:
    """The `Placement` of a strategy on a virtual slice, on so many cores or as an assignment says.

    Raises:
      TopologyError: more cores than the slice has.
    """
    if assignment is not None:
        logical = assignment.num_cores_per_replica
        used = assignment.num_replicas
        hosts = len({assignment.host_device(replica=i) for i in range(used)})
        if used * logical > system.cores:
            raise TopologyError(
                "a device assignment of %d replicas x %d cores" % (used, logical),
                "%r has %d cores" % (system.name, system.cores),
                "an assignment built on this slice's topology",
            )
        placed = [
            tuple(_core(system, assignment, i, each) for each in range(logical))
            for i in range(used)
        ]
        return Placement(used, hosts if used % hosts == 0 else 1, logical, tuple(placed))
    cores = system.cores if num_cores is None else num_cores
    if not isinstance(cores, int) or not 1 <= cores <= system.cores:
        raise TopologyError(
            "num_cores=%r" % (num_cores,),
            "%r has 1 to %d cores" % (system.name, system.cores),
            "num_cores=%d, or a larger slice such as 'virtual:%s'" % (system.cores, num_cores),
        )
    hosts = -(-cores // system.cores_per_host)
    alone = tuple((core,) for core in range(cores))
    return Placement(cores, hosts if cores % hosts == 0 else 1, 1, alone)


def _core(system: VirtualSystem, assignment: Any, replica: int, logical: int) -> int:
    """The number on the slice of a replica's logical core: hosts in order, and their cores."""
    name = assignment.tpu_device(replica=replica, logical_core=logical, job="worker")
    match = re.search(r"/task:([0-9]+)/.*:([0-9]+)$", name)
    assert match, name
    return int(match.group(1)) * system.cores_per_host + int(match.group(2))
