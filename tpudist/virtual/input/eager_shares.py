"""Takes the next batch of a dataset with a pipeline per host, eagerly and with few ops.

TensorFlow makes an optional of every replica's share, checks it twice for a value and takes the
value in a branch: seven ops a replica, one after the other. The branch is needed in a graph
alone; here an error shows the end of a host's data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf
from tensorflow.python.distribute import input_lib

from tpudist.tfcompat import distributed, nests
from tpudist.virtual.input import packed_values

if TYPE_CHECKING:
    from typing import Any


def next_batch(iterator: Any) -> Any:
    """Takes the next per-replica value.

    Args:
      iterator: TensorFlow's ``DistributedIterator``, with `Shares` for each host.

    Returns:
      The same as TensorFlow's ``get_next``; None where that has to be called instead.

    Raises:
      OutOfRangeError: no replica of any host has a share left.
    """
    if not _is_eager_and_allowed(iterator._strategy):
        return None
    extended = iterator._strategy.extended
    with tf.device(extended._host):
        hosts = [host._iterator for host in iterator._iterators]
        spec = hosts[0].element_spec
        if iterator._enable_get_next_as_optional:
            return _per_replica(iterator._strategy, spec, _values_or_dummies(hosts))
        if packed_values.can_pack(extended, spec):
            return _per_replica(iterator._strategy, spec, _leaves(hosts, nests.flatten(spec)))
    return None


def _is_eager_and_allowed(strategy: Any) -> bool:
    """Whether ops run eagerly, in a context where TensorFlow does not refuse the call."""
    if not tf.executing_eagerly() or getattr(strategy.extended, "_enable_data_reorder", False):
        return False
    if not tf.distribute.has_strategy():
        return True
    return bool(
        tf.distribute.in_cross_replica_context() and tf.distribute.get_strategy() is strategy
    )


def _values_or_dummies(hosts: list[Any]) -> list[Any]:
    """The replicas' shares, without rows for those of a host whose data has ended."""
    shares_of_hosts, end = [], None
    for host in hosts:
        shares, error = host.until_the_end()
        end = error or end
        shares_of_hosts.append(shares)
    if end is not None and not any(shares_of_hosts):
        raise end
    return [
        share
        for host, shares in zip(hosts, shares_of_hosts)
        for share in shares + _dummies(host, host.count - len(shares))
    ]


def _dummies(host: Any, count: int) -> list[Any]:
    return [input_lib._dummy_tensor_fn(host.element_spec) for _ in range(count)]


def _leaves(hosts: list[Any], specs: list[Any]) -> list[Any]:
    """The leaves of each replica's share; `specs` describe them."""
    return [
        tf.raw_ops.IteratorGetNext(
            iterator=host.iterator._iterator_resource,
            output_types=[spec.dtype for spec in specs],
            output_shapes=[spec.shape for spec in specs],
        )
        for host in hosts
        for _ in range(host.count)
    ]


def _per_replica(strategy: Any, spec: Any, shares: list[Any]) -> Any:
    """The replicas' `shares`; those of many replicas in one tensor for each leaf of `spec`."""
    columns = list(zip(*map(nests.flatten, shares)))
    if packed_values.are_used(strategy.extended) and all(map(_have_one_shape, columns)):
        wholes = [packed_values.divide(strategy.extended, tf.concat(c, 0)) for c in columns]
        return nests.pack_sequence_as(spec, wholes)
    return distributed.regroup(strategy.extended, shares)


def _have_one_shape(parts: tuple[Any, ...]) -> bool:
    first = parts[0]
    if not isinstance(first, tf.Tensor) or first.dtype in (tf.resource, tf.variant):
        return False
    return bool(first.shape.rank) and all(part.shape == first.shape for part in parts)
