"""TensorFlow's strategies beside the TPU's; on 1.13 all but their base are contrib's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import versions

if TYPE_CHECKING:
    from typing import Any, Callable

if versions.HAS_PUBLIC_STRATEGIES:
    _public: Any = tf.compat.v1.distribute
    MirroredStrategy: Any = _public.MirroredStrategy
    OneDeviceStrategy: Any = _public.OneDeviceStrategy
    ParameterServerStrategy: Any = _public.experimental.ParameterServerStrategy
    MultiWorkerMirroredStrategy: Any = _public.experimental.MultiWorkerMirroredStrategy
else:
    _contrib: Any = tf.contrib.distribute
    MirroredStrategy = _contrib.MirroredStrategy
    OneDeviceStrategy = _contrib.OneDeviceStrategy
    ParameterServerStrategy = _contrib.ParameterServerStrategy
    MultiWorkerMirroredStrategy = _contrib.CollectiveAllReduceStrategy


def local_results(strategy: Any, value: Any) -> list[Any]:
    """The value of each replica."""
    if versions.HAS_PUBLIC_STRATEGIES:
        return list(strategy.experimental_local_results(value))
    return list(strategy.extended._unwrap(value))


def dataset_of_replicas(strategy: Any, dataset_fn: Callable[[], Any]) -> Any:
    """A dataset of which each replica takes a batch per step."""
    if not versions.HAS_PUBLIC_STRATEGIES:
        return strategy.extended._distribute_dataset(dataset_fn)
    dataset = dataset_fn()
    return strategy.experimental_distribute_datasets_from_function(lambda context: dataset)
