"""Shares one iterator per host: the replicas of the host take from it in turn."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, versions

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Dataset, Fn, Nest, Operation


def take(get_next: Fn, count: int) -> list[Any]:
    """`count` results of ``get_next()``, taken in turn even in a graph."""
    elements: list[Any] = []
    before: list[Any] = []
    for _ in range(count):
        with tf.control_dependencies(before):
            elements.append(get_next())
        if not tf.executing_eagerly():
            before = [distributed.flatten(elements[-1])[0].op]
    return elements


def untuned(datasets: Any) -> Sequence[Dataset]:
    """`datasets`, one per host of this machine; if several, without a thread each to tune them."""
    if len(datasets) == 1 or not versions.ITERATORS_END_SLOWLY:
        return datasets
    options = tf.data.Options()
    if versions.HAS_AUTOTUNE_OPTIONS:
        options.autotune.enabled = False
    else:
        options.experimental_optimization.autotune = False
    return [dataset.with_options(options) for dataset in datasets]


def iterated_in_a_graph() -> ContextError:
    """The error of a loop over the elements of a distributed dataset."""
    return ContextError(
        "a distributed dataset was iterated over in a graph",
        "__iter__() is only supported inside of tf.function or when eager execution is enabled",
        "iterator = tf.compat.v1.data.make_initializable_iterator(dataset)"
        "; session.run(iterator.initializer); iterator.get_next(). For "
        "Keras, tf.compat.v1.enable_v2_behavior()",
    )


class Shares:
    """Replaces TensorFlow's iterator over the devices of a host, by one over `count` shares."""

    def __init__(self, iterator: Any, count: int) -> None:
        self.iterator = iterator
        self.count = count

    @property
    def element_spec(self) -> Nest:
        """The spec of one share."""
        return self.iterator.element_spec

    @property
    def initializer(self) -> Operation:
        """Op that (re)starts the iterator, in a TF 1 graph."""
        return self.iterator.initializer

    def get_next(self, device: Any = None) -> list[Any]:
        """The next share of each replica, or one share for a `device`."""
        if device is not None:
            return self.iterator.get_next()
        return take(self.iterator.get_next, self.count)

    def get_next_as_optional(self) -> list[Any]:
        """The next share of each replica, as a list of optionals."""
        ask = functools.partial(tf.data.experimental.get_next_as_optional, self.iterator)
        if versions.ITERATORS_GIVE_OPTIONALS:
            ask = self.iterator.get_next_as_optional
        return take(ask, self.count)

    def restart(self) -> None:
        """Restarts an iterator that was made in eager mode, also for functions that captured it."""
        tf.raw_ops.MakeIterator(
            dataset=self.iterator._dataset._variant_tensor,
            iterator=self.iterator._iterator_resource,
        )
