"""Logical devices: split, replicate and assign tensors within a replica.

Reference: the ``experimental_*_to_logical_device(s)`` methods of TPUStrategy
(TensorFlow 2.2 API page). A virtual TPU computes on one device, so the
annotation changes no value, but the program still contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
import tensorflow as tf

from tpudist.backends import strategies
from tpudist.errors import ShardingError
from tpudist.tfcompat import functions, nests, tpu, versions

if TYPE_CHECKING:
    from tpudist.annotations import Strategy
    from tpudist.tfcompat.annotations import Nest, Tensor


def split_to_logical_devices(
    strategy: Strategy, tensor: object, partition_dimensions: Sequence[int]
) -> Nest:
    """`tensor`, annotated to be split among a replica's logical devices.

    `partition_dimensions` has the number of parts along each dimension; their product is the number
    of logical devices.

    Context: replica, or cross-replica in a ``tf.function``.
    """
    parts = [int(p) for p in partition_dimensions]
    nests.map_structure(lambda leaf: _check_split(strategy, leaf, parts), tensor)
    tiles = np.arange(int(np.prod(parts))).reshape(parts)
    return _annotate(strategy, tensor, "tile", tiles)


def replicate_to_logical_devices(strategy: Strategy, tensor: object) -> Nest:
    """`tensor`, annotated to be held by all logical devices of a replica.

    Context and errors as :func:`split`.
    """
    logical_devices(strategy)
    return _annotate(strategy, tensor, "replicate")


def assign_to_logical_device(strategy: Strategy, tensor: object, logical_device_id: int) -> Nest:
    """`tensor`, annotated to be computed on one logical device, from 0 on."""
    count = logical_devices(strategy)
    if (
        isinstance(logical_device_id, bool)
        or not isinstance(logical_device_id, (int, np.integer))
        or not (0 <= logical_device_id < count)
    ):
        raise ShardingError(
            "logical_device_id=%r" % (logical_device_id,),
            "the device assignment gives each replica %d logical device(s)" % count,
            "an integer from 0 to %d" % (count - 1),
        )
    return _annotate(strategy, tensor, "assign_device", int(logical_device_id))


def logical_devices(strategy: Strategy) -> int:
    """Number of logical devices of each replica."""
    return strategies.backend_of(strategy).logical_devices


def _check_split(strategy: Strategy, tensor: object, parts: list[int]) -> None:
    count = logical_devices(strategy)
    shape = getattr(tensor, "shape", tf.TensorShape(None))
    if shape.rank is not None and shape.rank != len(parts):
        raise ShardingError(
            "partition_dimensions=%s for a tensor of shape %s" % (parts, shape),
            "it needs one entry per dimension",
            "%d entries" % shape.rank,
        )
    sizes = [None] * len(parts) if shape.rank is None else shape.as_list()
    for axis, (size, part) in enumerate(zip(sizes, parts)):
        if part < 1 or (size is not None and size % part):
            raise ShardingError(
                "partition_dimensions=%s for a tensor of shape %s" % (parts, shape),
                "dimension %d is not divisible by %d" % (axis, part),
                "a divisor, or pad the dimension",
            )
    if int(np.prod(parts)) != count:
        raise ShardingError(
            "partition_dimensions=%s, %d parts" % (parts, np.prod(parts)),
            "each replica has %d logical device(s)" % count,
            "parts whose product is %d" % count,
        )


def _annotate(strategy: Strategy, nest: object, annotation: object, *arguments: Any) -> Nest:
    """The annotated tensors of a nest, or identities where this release cannot run them."""
    as_op = strategies.backend_of(strategy).annotates_with_ops or (
        functions.in_function() and not versions.XLA_SHARDING_CRASHES_CPU
    )

    def annotate(leaf: object) -> Tensor | None:
        if leaf is None or tf.executing_eagerly():
            return leaf if leaf is None else tf.identity(leaf)
        with tf.name_scope("logical_devices"):
            return tpu.shard(annotation, tf.identity(leaf), *arguments, use_sharding_op=as_op)

    return nests.map_structure(annotate, nest)
