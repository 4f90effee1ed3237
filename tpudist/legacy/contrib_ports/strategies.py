"""The other strategies of ``tf.contrib.distribute``, in the form of 1.15.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/distribute.md
Each is TensorFlow's own strategy of today with contrib's constructor, and with the names
that contrib's had on the strategy itself.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from tpudist.tfcompat import strategies

if TYPE_CHECKING:
    from typing import Any, Callable, Sequence

#: How Estimator distributes training and evaluation.
DistributeConfig: Any = collections.namedtuple(
    "DistributeConfig", ["train_distribute", "eval_distribute", "remote_cluster"]
)
DistributeConfig.__new__.__defaults__ = (None, None, None)


class _Towers:
    """The names of 1.11 to 1.13 on a strategy of TensorFlow's."""

    extended: Any

    @property
    def num_towers(self) -> int:
        """Number of replicas in sync (r1.11)."""
        return self.extended._num_replicas_in_sync

    def unwrap(self, value: Any) -> list[Any]:
        """A list with the value of each tower (r1.11)."""
        return strategies.local_results(self, value)

    def call_for_each_tower(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Runs `fn` once per tower; distributed arguments are taken apart (r1.11)."""
        return self.extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    def call_for_each_replica(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """As `call_for_each_tower` (r1.13)."""
        return self.call_for_each_tower(fn, *args, **kwargs)

    def distribute_dataset(self, dataset_fn: Callable[[], Any]) -> Any:
        """The dataset, a batch for each tower per step (r1.11)."""
        return strategies.dataset_of_replicas(self, dataset_fn)


class MirroredStrategy(_Towers, strategies.MirroredStrategy):
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
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
        prefetch_on_device: bool | None = None,
    ) -> None:
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        gpus = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is None and gpus is not None:
            devices = ["/device:GPU:%d" % i for i in range(gpus)] or ["/device:CPU:0"]
        super().__init__(devices=devices, cross_device_ops=cross_device_ops or cross_tower_ops)


class OneDeviceStrategy(_Towers, strategies.OneDeviceStrategy):
    """Runs everything on one device (r1.15).

    Args:
      device: device string.
      prefetch_on_device: of 1.x; not used.
    """

    def __init__(self, device: str, prefetch_on_device: bool | None = None) -> None:
        super().__init__(device)


class ParameterServerStrategy(_Towers, strategies.ParameterServerStrategy):
    """Variables on parameter servers (r1.15).

    Args:
      num_gpus_per_worker: of 1.x; the machine's GPUs are found.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__()


class CollectiveAllReduceStrategy(_Towers, strategies.MultiWorkerMirroredStrategy):
    """Mirrors variables on the devices of several machines (r1.15).

    Args:
      num_gpus_per_worker: of 1.x; the machine's GPUs are found.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__()
