"""Zeros in place of what a replica function returns, where it is traced and not run."""

import tensorflow as tf

from tpudist.tfcompat import distributed, nests


def of_replicas(extended, results):
    """What replicas that return zeros would give.

    Context: cross-replica, eager or in a graph.

    Args:
      extended: the `VirtualExtended`.
      results: what the function returned when it was traced; a nest whose tensors
        are of another graph.

    Returns:
      The nest with distributed zeros of the same dtypes and shapes in place of
      tensors, an unknown dimension being 1, and no ops in place of ops. Variables,
      and what is no tensor, stay.
    """
    with extended.place():
        return distributed.regroup(
            extended,
            [nests.map_structure(_zeros, results) for _ in range(extended._num_replicas_in_sync)],
        )


def _zeros(leaf):
    if isinstance(leaf, tf.Operation):
        return None if tf.executing_eagerly() else tf.no_op()
    if isinstance(leaf, tf.Variable) or not (
        distributed.is_distributed(leaf) or distributed.is_tensor_like(leaf)
    ):
        return leaf
    leaf = distributed.components(leaf)[0]
    return distributed.pack(leaf, [_zero(part) for part in distributed.flatten(leaf)])


def _zero(tensor):
    if tensor.shape.rank is None:
        return tf.zeros([], tensor.dtype)
    return tf.zeros([1 if size is None else size for size in tensor.shape.as_list()], tensor.dtype)
