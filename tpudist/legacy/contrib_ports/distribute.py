"""The other strategies of ``tf.contrib.distribute``, in the form of 1.15.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/distribute.md
Each strategy is TensorFlow's own of today with contrib's constructor, and with the names
that contrib's had on the strategy itself.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any, Callable, Sequence

import tensorflow as tf

from tpudist.tfcompat import versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DistributedDataset, Nest

if versions.HAS_PUBLIC_STRATEGIES:
    _native: Any = tf.compat.v1.distribute
    _ParameterServerStrategy: Any = _native.experimental.ParameterServerStrategy
    _MultiWorkerStrategy: Any = _native.experimental.MultiWorkerMirroredStrategy
else:
    _native = tf.contrib.distribute
    _ParameterServerStrategy = _native.ParameterServerStrategy
    _MultiWorkerStrategy = _native.CollectiveAllReduceStrategy

#: How Estimator distributes training and evaluation.
DistributeConfig: Any = collections.namedtuple(
    "DistributeConfig", ["train_distribute", "eval_distribute", "remote_cluster"]
)
DistributeConfig.__new__.__defaults__ = (None, None, None)


class _Towers:
    """The names of 1.11 to 1.13 on a strategy of TensorFlow's."""

    extended: Any
    experimental_local_results: Any
    experimental_distribute_datasets_from_function: Any

    @property
    def num_towers(self) -> int:
        """Number of replicas in sync (r1.11)."""
        return self.extended._num_replicas_in_sync

    def unwrap(self, value: object) -> list[Any]:
        """A list with the value of each tower (r1.11)."""
        if not versions.HAS_PUBLIC_STRATEGIES:
            return list(self.extended._unwrap(value))
        return list(self.experimental_local_results(value))

    def call_for_each_tower(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Nest:
        """Runs `fn` once per tower; distributed arguments are taken apart (r1.11)."""
        return self.extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    def call_for_each_replica(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Nest:
        """As `call_for_each_tower` (r1.13)."""
        return self.call_for_each_tower(fn, *args, **kwargs)

    def distribute_dataset(self, dataset_fn: Callable[[], Any]) -> DistributedDataset:
        """The dataset, a batch for each tower per step (r1.11)."""
        if not versions.HAS_PUBLIC_STRATEGIES:
            return self.extended._distribute_dataset(dataset_fn)
        dataset = dataset_fn()
        return self.experimental_distribute_datasets_from_function(lambda context: dataset)


class MirroredStrategy(_Towers, _native.MirroredStrategy):
    """Mirrors variables on the devices of a machine (r1.15).

    Args:
      devices: list of device strings; None for the machine's.
      num_gpus, num_gpus_per_worker: number of GPUs to use, instead of `devices`.
      cross_device_ops, cross_tower_ops: how values are reduced.
      auto_shard_dataset, prefetch_on_device: of 1.x; not used.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: object = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: object = None,
        prefetch_on_device: bool | None = None,
    ) -> None:
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        gpus = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is None and gpus is not None:
            devices = ["/device:GPU:%d" % i for i in range(gpus)] or ["/device:CPU:0"]
        super().__init__(devices=devices, cross_device_ops=cross_device_ops or cross_tower_ops)


class OneDeviceStrategy(_Towers, _native.OneDeviceStrategy):
    """Runs everything on one device (r1.15).

    Args:
      device: device string.
      prefetch_on_device: of 1.x; not used.
    """

    def __init__(self, device: str, prefetch_on_device: bool | None = None) -> None:
        super().__init__(device)


class ParameterServerStrategy(_Towers, _ParameterServerStrategy):
    """Variables on parameter servers (r1.15).

    Args:
      num_gpus_per_worker: of 1.x; the machine's GPUs are found.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__()


class CollectiveAllReduceStrategy(_Towers, _MultiWorkerStrategy):
    """Mirrors variables on the devices of several machines (r1.15).

    Args:
      num_gpus_per_worker: of 1.x; the machine's GPUs are found.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__()
