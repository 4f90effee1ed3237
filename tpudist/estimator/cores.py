"""Decides which cores a replica of a TPUEstimator has, and splits its input among them.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUConfig.md
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tpudist.core import adapter, base_classes
from tpudist.core.system import cluster, placement
from tpudist.errors import ArgumentError
from tpudist.tfcompat import versions

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Assignment, Nest, Resolver, Strategy, TPUConfig


class TPUEstimatorStrategy(base_classes.TPUStrategyBaseV1):
    """The strategy of a TPUEstimator, which its user never sees.

    The model function is traced once for all replicas, as on a TPU.

    Args:
      resolver: a resolver, or None for the local TPU.
      assignment: a `DeviceAssignment`, or None.
    """

    def __init__(self, resolver: Resolver, assignment: Assignment = None) -> None:
        adapter.initialize(self, resolver, assignment)
        strategy: Any = self
        strategy.extended.traces_once = versions.TRACES_AS_FIRST


def assignment(resolver: Resolver, cores_per_replica: int | None) -> Assignment:
    """Assigns a block of neighbouring cores to each replica.

    Args:
      resolver: a TPU's resolver.
      cores_per_replica: ``TPUConfig.num_cores_per_replica``.

    Returns:
      A `DeviceAssignment`; None where a replica is one core.

    Raises:
      ArgumentError: (a ValueError) no block of so many cores divides the mesh.
    """
    if cores_per_replica in (None, 1):
        return None
    system = cluster.system_of(resolver)
    if system is None:
        topology = cluster.initialize_tpu_system(resolver)
    else:
        topology = placement.topology(system)
    mesh = [int(size) for size in topology.mesh_shape]
    block, cores_left = [1] * len(mesh), int(cores_per_replica or 1)
    # The cores of one chip first, then chips along y and x, then along further dimensions.
    for axis in [len(mesh) - 1, *range(1, -1, -1), *range(2, len(mesh) - 1)]:
        block[axis] = math.gcd(mesh[axis], cores_left)
        cores_left //= block[axis]
    if cores_left > 1:
        raise ArgumentError(
            "num_cores_per_replica=%s on a mesh of %s" % (cores_per_replica, mesh),
            "the cores of a replica are neighbours, a block that divides the mesh",
            "num_cores_per_replica=%d" % np.prod(block),
        )
    num_replicas = int(np.prod(mesh) // np.prod(block))
    return placement.DeviceAssignment.build(topology, block, num_replicas=num_replicas)


def require_num_shards(strategy: Strategy, tpu_config: TPUConfig) -> None:
    """Refuses a ``num_shards`` that differs from the number of replicas.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    num_shards, num_replicas = tpu_config.num_shards, adapter.num_replicas(strategy)
    if num_shards not in (None, num_replicas):
        raise ArgumentError(
            "num_shards=%s on a TPU of %d replicas" % (num_shards, num_replicas),
            "it is the number of replicas: the TPU's cores, divided by num_cores_per_replica",
            "no num_shards, or num_shards=%d" % num_replicas,
        )


def split_input(
    strategy: Strategy, tpu_config: TPUConfig, features: Nest, labels: Nest
) -> tuple[Nest, Nest]:
    """Splits the input of a replica among its cores, by ``input_partition_dims``.

    Context: replica.

    Returns:
      (features, labels), annotated with how they are split.

    Raises:
      ArgumentError: (a ValueError) the dimensions have another structure than the input, or
        a tensor cannot be split so.
    """
    dims = list(tpu_config.input_partition_dims or ())
    dims += [None] * (2 - len(dims))
    return _split(strategy, features, dims[0]), _split(strategy, labels, dims[1])


def _split(strategy: Strategy, nest: Nest, dims: Any) -> Nest:
    if dims is None:
        return nest
    if not isinstance(dims, dict) and all(isinstance(size, int) for size in dims):
        return adapter.split_to_logical_devices(strategy, nest, dims)
    if isinstance(dims, dict) and isinstance(nest, dict) and set(dims) == set(nest):
        return {name: _split(strategy, nest[name], dims[name]) for name in nest}
    if isinstance(nest, (list, tuple)) and not isinstance(dims, dict) and len(nest) == len(dims):
        return [_split(strategy, item, item_dims) for item, item_dims in zip(nest, dims)]
    raise ArgumentError(
        "input_partition_dims with %r for the input %r" % (dims, nest),
        "it has the structure of the input, with a list of numbers or None for each tensor",
        "input_partition_dims=[{'image': [1, 2, 1, 1], 'name': None}, None]",
    )
