"""Replicas of several cores: where they lie, and how their input is split among the cores.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUConfig.md
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tpudist.core import adapter, cluster, placement
from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Strategy


def assignment(resolver: Any, cores_per_replica: int | None) -> Any:
    """The cores of each replica.

    Args:
      resolver: a TPU's resolver.
      cores_per_replica: ``TPUConfig.num_cores_per_replica``.

    Returns:
      A `DeviceAssignment`; None where a replica is one core.

    Raises:
      ArgumentError: (a ValueError) the slice cannot be divided so.
    """
    if cores_per_replica in (None, 1):
        return None
    system = cluster.system_of(resolver)
    if system is None:
        topology = cluster.initialize_tpu_system(resolver)
    else:
        topology = placement.topology(system)
    mesh = [int(size) for size in topology.mesh_shape]
    shape, left = [1] * len(mesh), int(cores_per_replica or 1)
    for axis in [len(mesh) - 1, *range(1, -1, -1), *range(2, len(mesh) - 1)]:
        shape[axis] = math.gcd(mesh[axis], left)
        left //= shape[axis]
    if left > 1:
        raise ArgumentError(
            "num_cores_per_replica=%s on a mesh of %s" % (cores_per_replica, mesh),
            "the cores of a replica are neighbours, a block that divides the mesh",
            "num_cores_per_replica=%d" % np.prod(shape),
        )
    replicas = int(np.prod(mesh) // np.prod(shape))
    return placement.DeviceAssignment.build(topology, shape, num_replicas=replicas)


def require_shards(strategy: Strategy, tpu_config: Any) -> None:
    """Refuses a ``num_shards`` that is not the number of replicas.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    shards, replicas = tpu_config.num_shards, adapter.num_replicas(strategy)
    if shards not in (None, replicas):
        raise ArgumentError(
            "num_shards=%s on a TPU of %d replicas" % (shards, replicas),
            "it is the number of replicas, which the TPU says: its cores by num_cores_per_replica",
            "no num_shards, or num_shards=%d" % replicas,
        )


def split(strategy: Strategy, tpu_config: Any, features: Any, labels: Any) -> tuple[Any, Any]:
    """(features, labels) of a replica, annotated as ``input_partition_dims`` says.

    Context: replica.

    Raises:
      ArgumentError: (a ValueError) the dimensions have another structure than the input, or
        a tensor cannot be split so.
    """
    dims = list(tpu_config.input_partition_dims or ())
    dims += [None] * (2 - len(dims))
    return _split(strategy, features, dims[0]), _split(strategy, labels, dims[1])


def _split(strategy: Strategy, nest: Any, dims: Any) -> Any:
    if dims is None:
        return nest
    if not isinstance(dims, dict) and all(isinstance(each, int) for each in dims):
        return adapter.split_to_logical_devices(strategy, nest, dims)
    if isinstance(dims, dict) and isinstance(nest, dict) and set(dims) == set(nest):
        return {name: _split(strategy, nest[name], dims[name]) for name in nest}
    if isinstance(nest, (list, tuple)) and not isinstance(dims, dict) and len(nest) == len(dims):
        return [_split(strategy, each, part) for each, part in zip(nest, dims)]
    raise ArgumentError(
        "input_partition_dims with %r for the input %r" % (dims, nest),
        "it has the structure of the input, with a list of numbers or None for each tensor",
        "input_partition_dims=[{'image': [1, 2, 1, 1], 'name': None}, None]",
    )
