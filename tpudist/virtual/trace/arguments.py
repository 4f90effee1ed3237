"""Brings the arguments of a replica function into its trace, as placeholders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tpudist.errors import PerReplicaError
from tpudist.tfcompat import distributed, functions, nests

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Extended, Nest, Shape, T, Tensor
    from tpudist.virtual.replicas.program import Program


def enter(program: Program, structure: T) -> T:
    """The arguments as the traced function sees them.

    Args:
      program: the `Program`; gets an argument for each distributed tensor.
      structure: a nest with distributed values among its leaves.

    Returns:
      The same nest with one placeholder in place of each distributed tensor.

    Raises:
      PerReplicaError: a distributed value does not have one component per
        replica, or has components that no tensor can hold.
    """
    return nests.map_structure(lambda leaf: _enter_leaf(program, leaf), structure)


def _enter_leaf(program: Program, leaf: object) -> Any:
    if not distributed.is_distributed(leaf) or distributed.is_variable(leaf):
        return leaf
    return _stack(program, _components(leaf, program.num_replicas))


def check_lengths(extended: Extended, structure: object) -> None:
    """Refuses distributed values that do not have one component per replica.

    Raises:
      PerReplicaError: (a ValueError) there is one in the nest `structure`.
    """
    for leaf in nests.flatten(structure):
        if distributed.is_distributed(leaf) and not distributed.is_variable(leaf):
            _components(leaf, len(extended.worker_devices))


def _components(leaf: object, count: int) -> Any:
    parts = distributed.components(leaf)
    if len(parts) == count:
        return parts
    raise PerReplicaError(
        "a per-replica value of %d components" % len(parts),
        "there are %d replicas" % count,
        "one component per replica, as strategy."
        "experimental_distribute_values_from_function(fn) makes them",
    )


def _stack(program: Program, parts: Any) -> Nest:
    """One placeholder (or composite of them) that stands for all `parts`."""
    if all(part is parts[0] for part in parts) and not nests.is_tensor(parts[0]):
        return parts[0]
    with program.outer.as_default():
        parts = [_convert(part) for part in parts]
    flat = [distributed.flatten(part) for part in parts]
    placeholders = []
    for tensors in zip(*flat):
        shape = _common_shape([tensor.shape for tensor in tensors])
        placeholder = functions.placeholder_like(tensors[0], shape)
        program.arguments.append((placeholder, list(tensors)))
        placeholders.append(placeholder)
    return distributed.pack(parts[0], placeholders)


def own_array(leaf: object) -> Any:
    """What a replica function returned; an array, which each replica has made, as a tensor."""
    return tf.constant(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf


def _convert(part: Any) -> Tensor:
    if distributed.is_tensor_like(part):
        return part
    if isinstance(part, tf.Variable):
        return tf.convert_to_tensor(part)
    if isinstance(part, (bool, int, float, np.ndarray, np.generic)):
        return tf.convert_to_tensor(part)
    raise PerReplicaError(
        "a per-replica value holds %r" % (part,),
        "replicas run one traced program, so their values must be tensors or numbers",
        "a tensor, or the same Python object for every replica",
    )


def _common_shape(shapes: Any) -> Shape:
    """The most specific shape that fits all `shapes`."""
    first = shapes[0]
    if any(s.rank is None or s.rank != first.rank for s in shapes):
        return tf.TensorShape(None)
    lists = [shape.as_list() for shape in shapes]
    return tf.TensorShape([dims[0] if len(set(dims)) == 1 else None for dims in zip(*lists)])
