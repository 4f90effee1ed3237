"""How the replicas of a TPUEstimator are fed: who calls the input function, with which batch.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUConfig.md
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

from tpudist.core import adapter
from tpudist.errors import ArgumentError, ContextError

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Strategy

#: The names of ``InputPipelineConfig`` by its values, which are integers; SLICED is its own.
PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED = 1, 2, 3, 4, 5


class Feeding(typing.NamedTuple):
    """Who feeds which replicas.

    Args:
      mode: how, one of the values of ``InputPipelineConfig``.
      replicas: number of replicas in all.
      hosts: number of hosts.
      global_batch: examples of a step, over all replicas.
    """

    mode: int
    replicas: int
    hosts: int
    global_batch: int

    @property
    def calls(self) -> int:
        """How often the input function is called."""
        counts = {PER_SHARD_V1: self.replicas, BROADCAST: 1, SLICED: 1}
        return counts.get(self.mode, self.hosts)

    @property
    def replicas_of_a_call(self) -> int:
        """How many replicas what one call returns feeds."""
        return self.replicas // self.calls

    @property
    def splits(self) -> bool:
        """Whether a batch is split among replicas; else each takes a batch of its own."""
        return self.mode in (PER_HOST_V1, SLICED)

    @property
    def input_batch(self) -> int:
        """``params["batch_size"]`` of the input function."""
        if self.splits:
            return self.global_batch // self.calls
        return self.model_batch

    @property
    def model_batch(self) -> int:
        """``params["batch_size"]`` of the model function: examples of a replica."""
        return self.global_batch if self.mode == BROADCAST else self.global_batch // self.replicas


def feeding(strategy: Strategy, mode: int, global_batch: int, argument: str) -> Feeding:
    """How `strategy`'s replicas are fed with batches of `global_batch` examples.

    Args:
      strategy: the strategy of the cores.
      mode: a value of ``InputPipelineConfig``.
      global_batch: examples of a step.
      argument: its name, for messages: ``"train_batch_size"``.

    Raises:
      ArgumentError: (a ValueError) the replicas cannot share the batch evenly.
    """
    replicas, hosts = adapter.num_replicas(strategy), adapter.num_hosts(strategy)
    if global_batch % replicas:
        raise ArgumentError(
            "%s=%d on a TPU of %d replicas" % (argument, global_batch, replicas),
            "it is the batch of all replicas, and each takes the same share of it",
            "%s=%d" % (argument, -(-global_batch // replicas) * replicas),
        )
    return Feeding(mode, replicas, min(hosts, replicas), global_batch)


class TPUContext:
    """What ``params["context"]`` tells an input function or a model function.

    Args:
      strategy: the strategy of the cores.
      fed: its `Feeding`.
      call: which call of the input function this is; None in a model function.
    """

    def __init__(self, strategy: Strategy, fed: Feeding, call: int | None = None) -> None:
        self._strategy = strategy
        self._feeding = fed
        self._call = call

    def current_input_fn_deployment(self) -> tuple[str, int, int, int]:
        """Where this call of the input function stands (r1.15).

        Returns:
          The host's device, which call it is, how many calls there are, and how many
          replicas this one feeds.

        Raises:
          ContextError: (a RuntimeError) called from a model function.
        """
        if self._call is None:
            raise ContextError(
                "current_input_fn_deployment() in a model function",
                "it tells an input function which part of the input to give",
                "params['context'].num_replicas",
            )
        fed = self._feeding
        return self._host_device(), self._call, fed.calls, fed.replicas_of_a_call

    def _host_device(self) -> str:
        host = (self._call or 0) * self._feeding.hosts // self._feeding.calls
        return adapter.host_device(self._strategy, host)

    @property
    def num_replicas(self) -> int:
        """Number of replicas in all (r1.15)."""
        return self._feeding.replicas

    @property
    def num_hosts(self) -> int:
        """Number of hosts of the slice (r1.15)."""
        return self._feeding.hosts

    @property
    def current_host(self) -> int | None:
        """Which call of the input function this is (r1.15)."""
        return self._call

    @property
    def num_of_replicas_per_host(self) -> int:
        """Number of replicas that a host feeds (r1.15)."""
        return self._feeding.replicas // self._feeding.hosts

    def device_for_replica(self, replica_id: int) -> tuple[str, int]:
        """The CPU device of a replica's host, and its number there (r1.15)."""
        each = self.num_of_replicas_per_host
        return adapter.host_device(self._strategy, replica_id // each), replica_id % each

    @property
    def tpu_host_placement_function(self) -> Any:
        """A function from a host's number to its CPU device (r1.15)."""
        return lambda host_id=0: adapter.host_device(self._strategy, host_id)
