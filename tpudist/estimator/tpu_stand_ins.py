"""``tf.estimator.tpu`` for the releases that have none (2.16 and newer).

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu.md
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

from tpudist.errors import ArgumentError
from tpudist.estimator import host_calls, run_config, specs, tpu_context, tpu_hooks
from tpudist.tfcompat import nests

if TYPE_CHECKING:
    from typing import Any


class InputPipelineConfig:
    """How the replicas are fed (r1.15)."""

    PER_SHARD_V1 = tpu_context.PER_SHARD_V1
    PER_HOST_V1 = tpu_context.PER_HOST_V1
    PER_HOST_V2 = tpu_context.PER_HOST_V2
    BROADCAST = tpu_context.BROADCAST
    SLICED = tpu_context.SLICED


class _Options(typing.NamedTuple):
    iterations_per_loop: Any = 2
    num_shards: Any = None
    num_cores_per_replica: Any = None
    per_host_input_for_training: Any = True
    tpu_job_name: Any = None
    initial_infeed_sleep_secs: Any = None
    input_partition_dims: Any = None
    eval_training_input_configuration: Any = tpu_context.PER_HOST_V1
    experimental_host_call_every_n_steps: Any = 1


class TPUConfig(_Options):
    """How a TPUEstimator uses the TPU (r1.15).

    Args:
      iterations_per_loop: steps of one loop on the device.
      num_shards: number of replicas; the TPU says it, too.
      num_cores_per_replica: cores of a replica: 1, 2, 4, 8, ..., 128; None for 1.
      per_host_input_for_training: an `InputPipelineConfig`; True is PER_HOST_V1, False
        PER_SHARD_V1.
      tpu_job_name, initial_infeed_sleep_secs: of a real TPU of that time.
      input_partition_dims: for each of (features, labels) in how many parts a replica's
        tensors are split among its cores.
      eval_training_input_configuration: PER_HOST_V1 or SLICED.
      experimental_host_call_every_n_steps: how often ``host_call`` runs in a training.

    Raises:
      ArgumentError: (a ValueError) a value that cannot be.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TPUConfig:
        """See the class; reference r1.15."""
        given = super().__new__(cls, *args, **kwargs)
        _check(given)
        how = given.per_host_input_for_training
        if isinstance(how, bool):
            given = given._replace(per_host_input_for_training=2 if how else 1)
        _check_partitions(given)
        return given


def _check(given: Any) -> None:
    for name in ("iterations_per_loop", "num_shards", "initial_infeed_sleep_secs"):
        value = getattr(given, name)
        if value is not None and not isinstance(value, str) and int(value) < 1:
            raise ArgumentError("%s=%r" % (name, value), "it is positive", "%s=100" % name)
    cores = given.num_cores_per_replica
    if cores not in (None, 1, 2, 4, 8, 16, 32, 64, 128):
        raise ArgumentError(
            "num_cores_per_replica=%r" % (cores,),
            "a replica has 1, 2, 4, 8, 16, 32, 64 or 128 cores",
            "num_cores_per_replica=2",
        )


def _check_partitions(given: Any) -> None:
    dims, cores = given.input_partition_dims, given.num_cores_per_replica
    if dims is None:
        return
    if len(dims) not in (1, 2) or cores is None:
        raise ArgumentError(
            "input_partition_dims=%r with num_cores_per_replica=%r" % (dims, cores),
            "it has an entry for the features and one for the labels, and says how they are "
            "split among the cores of a replica",
            "input_partition_dims=[[1, 2, 1, 1], None], num_cores_per_replica=2",
        )
    if given.per_host_input_for_training != tpu_context.PER_HOST_V2:
        raise ArgumentError(
            "input_partition_dims with per_host_input_for_training=%r"
            % (given.per_host_input_for_training,),
            "it is supported in PER_HOST_V2 mode only, where a replica takes a batch of its own",
            "per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2",
        )


class RunConfig(run_config.RunConfig):
    """``RunConfig`` with the TPU (r1.15).

    Args:
      tpu_config: a `TPUConfig`.
      evaluation_master, master: addresses of a real TPU.
      cluster: a `TPUClusterResolver`.
      **kwargs: as for `run_config.RunConfig`.
    """

    def __init__(
        self,
        tpu_config: Any = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        """See the class; reference r1.15."""
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        self.master = master or (cluster.master() if cluster else "")
        self.evaluation_master = evaluation_master or self.master

    @property
    def tpu_config(self) -> Any:
        """The `TPUConfig` (r1.15)."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """The `TPUClusterResolver`, or None (r1.15)."""
        return self._cluster

    def replace(self, **options: Any) -> Any:
        """A copy with other options (r1.15)."""
        tpu_config = options.pop("tpu_config", self._tpu_config)
        made = super().replace(**options)
        made._use(tpu_config)
        return made

    def _use(self, tpu_config: Any) -> None:
        self._tpu_config = tpu_config


class _Fields(typing.NamedTuple):
    mode: Any
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metrics: Any = None
    export_outputs: Any = None
    scaffold_fn: Any = None
    host_call: Any = None
    training_hooks: Any = None
    evaluation_hooks: Any = None
    prediction_hooks: Any = None


class TPUEstimatorSpec(_Fields):
    """What a model function tells a TPUEstimator to run (r1.15).

    Args:
      mode, predictions, loss, train_op, export_outputs: as of ``EstimatorSpec``.
      eval_metrics: (metric_fn, tensors): the host's function gets the tensors of all cores.
      scaffold_fn: makes a ``tf.train.Scaffold`` on the host.
      host_call: (function, tensors): the host's function gets the tensors of each step.
      training_hooks, evaluation_hooks, prediction_hooks: hooks of the modes.

    Raises:
      ArgumentError, ArgumentTypeError: a specification that cannot be run.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TPUEstimatorSpec:
        """See the class; reference r1.15."""
        given = super().__new__(cls, *args, **kwargs)
        hooks = {
            name: tuple(getattr(given, name) or ())
            for name in ("training_hooks", "evaluation_hooks", "prediction_hooks")
        }
        specs.check(given.mode, given._asdict(), sum(hooks.values(), ()))
        for name in ("eval_metrics", "host_call"):
            _check_call(name, getattr(given, name))
        return given._replace(**hooks)

    def as_estimator_spec(self) -> Any:
        """The same for an Estimator without a TPU (r1.15)."""
        metrics = host_calls.call(*self.eval_metrics) if self.eval_metrics else None
        hooks: tuple[Any, ...] = ()
        if self.host_call:
            made = nests.flatten(host_calls.call(*self.host_call))
            hooks = (tpu_hooks.EveryStepHook([each for each in made if each is not None]),)
        return specs.EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


def _check_call(name: str, pair: Any) -> None:
    if pair is None:
        return
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not callable(pair[0]):
        raise ArgumentError(
            "%s=%r" % (name, pair),
            "it is a pair: the host's function and its tensors, a list or dictionary",
            "%s=(metric_fn, [labels, logits])" % name,
        )
    if not isinstance(pair[1], (tuple, list, dict)):
        raise ArgumentError(
            "%s with the tensors %r" % (name, pair[1]),
            "tensors is a list or a dictionary",
            "%s=(metric_fn, [labels, logits])" % name,
        )
