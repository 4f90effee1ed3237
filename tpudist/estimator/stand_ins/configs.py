"""Stands in for ``RunConfig``, and for ``TPUConfig`` and its parts.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/RunConfig.md
"""

from __future__ import annotations

import copy
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tpudist.errors import ArgumentError
from tpudist.estimator import infeed
from tpudist.tfcompat import clusters

if TYPE_CHECKING:
    from tpudist.core import annotations as types

#: {argument of the constructor: its default}
_DEFAULTS: dict[str, Any] = {
    "model_dir": None,
    "tf_random_seed": None,
    "save_summary_steps": 100,
    "save_checkpoints_steps": None,
    "save_checkpoints_secs": 600,
    "session_config": None,
    "keep_checkpoint_max": 5,
    "keep_checkpoint_every_n_hours": 10000,
    "log_step_count_steps": 100,
    "train_distribute": None,
    "device_fn": None,
    "protocol": None,
    "eval_distribute": None,
    "experimental_distribute": None,
    "experimental_max_worker_delay_secs": None,
    "session_creation_timeout_secs": 7200,
    "checkpoint_save_graph_def": True,
}
#: Two options of which only one may be set.
_SAVE_EVERY = ("save_checkpoints_steps", "save_checkpoints_secs")


class RunConfig:
    """Says how an Estimator runs, saves and logs (r1.15).

    Args:
      *args, **options: model_dir, tf_random_seed, save_summary_steps, save_checkpoints_steps,
        save_checkpoints_secs, session_config, keep_checkpoint_max,
        keep_checkpoint_every_n_hours, log_step_count_steps, train_distribute, device_fn,
        protocol, eval_distribute, experimental_distribute,
        experimental_max_worker_delay_secs, session_creation_timeout_secs,
        checkpoint_save_graph_def; without names in this order.

    Raises:
      ArgumentError: (a ValueError) an unknown option, a value that an option cannot have,
        or a TF_CONFIG with a cluster.
    """

    master = ""
    evaluation_master = ""
    is_chief = True
    num_ps_replicas = 0
    num_worker_replicas = 1
    task_type = "worker"
    task_id = 0
    global_id_in_cluster = 0
    service = None

    def __init__(self, *args: Any, **options: Any) -> None:
        options.update(zip(_DEFAULTS, args))
        self._refuse_unknown(options)
        self._refuse_cluster()
        if options.get("save_checkpoints_steps") is not None:
            options.setdefault("save_checkpoints_secs", None)
        self._options = dict(_DEFAULTS, **options)
        self._check()
        if self._options["session_config"] is None:
            self._options["session_config"] = tf.compat.v1.ConfigProto(allow_soft_placement=True)

    @staticmethod
    def _refuse_unknown(options: dict[str, Any]) -> None:
        unknown = sorted(set(options) - set(_DEFAULTS))
        if unknown:
            raise ArgumentError(
                "RunConfig(%s=...)" % unknown[0], "it has no such option", ", ".join(_DEFAULTS)
            )

    @staticmethod
    def _refuse_cluster() -> None:
        cluster = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster")
        if cluster and not clusters.has_sessions:
            raise ArgumentError(
                "TF_CONFIG with the cluster %s" % sorted(cluster),
                "from TensorFlow 2.16 on tpudist's Estimator runs in one process, which is "
                "enough for a TPU slice",
                "unset TF_CONFIG, or TensorFlow 2.15, whose Estimator runs parameter servers",
            )

    def _check(self) -> None:
        if all(self._options[name] is not None for name in _SAVE_EVERY):
            raise ArgumentError(
                "save_checkpoints_steps and save_checkpoints_secs cannot be both set",
                "they are two ways to say when a checkpoint is saved",
                "one of them",
            )
        for name in _SAVE_EVERY + ("save_summary_steps", "log_step_count_steps"):
            value = self._options[name]
            if value is not None and value < 0:
                raise ArgumentError("%s=%r" % (name, value), "it should be >= 0", "%s=100" % name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _DEFAULTS:
            raise AttributeError("%s has no attribute %r" % (type(self).__name__, name))
        return self._options[name]

    @property
    def cluster_spec(self) -> Any:
        """An empty cluster: there is no other machine (r1.15)."""
        return tf.train.ClusterSpec({})

    def replace(self, **options: Any) -> Any:
        """Returns a copy with other options (r1.15)."""
        self._refuse_unknown(options)
        config = copy.copy(self)
        config._set_options(options)
        return config

    def _set_options(self, options: dict[str, Any]) -> None:
        self._options = dict(self._options, **options)
        for name, other in (_SAVE_EVERY, _SAVE_EVERY[::-1]):
            if options.get(name) is not None and other not in options:
                self._options[other] = None
        self._check()


class InputPipelineConfig:
    """Names the ways in which input functions feed the replicas (r1.15)."""

    PER_SHARD_V1 = infeed.PER_SHARD_V1
    PER_HOST_V1 = infeed.PER_HOST_V1
    PER_HOST_V2 = infeed.PER_HOST_V2
    BROADCAST = infeed.BROADCAST
    SLICED = infeed.SLICED


class _TPUFields(NamedTuple):
    iterations_per_loop: Any = 2
    num_shards: Any = None
    num_cores_per_replica: Any = None
    per_host_input_for_training: Any = True
    tpu_job_name: Any = None
    initial_infeed_sleep_secs: Any = None
    input_partition_dims: Any = None
    eval_training_input_configuration: Any = infeed.PER_HOST_V1
    experimental_host_call_every_n_steps: Any = 1


class TPUConfig(_TPUFields):
    """Says how a TPUEstimator uses the TPU (r1.15).

    Args:
      iterations_per_loop: number of steps of one loop on the device.
      num_shards: number of replicas, or None; it must be that of the TPU.
      num_cores_per_replica: cores of a replica: 1, 2, 4, 8, ..., 128; None for 1.
      per_host_input_for_training: an `InputPipelineConfig`; True is PER_HOST_V1, False
        PER_SHARD_V1.
      tpu_job_name, initial_infeed_sleep_secs: ignored; they are for real TPUs of TensorFlow 1.
      input_partition_dims: for each of (features, labels) the numbers of parts, along each
        dimension, into which a replica's tensors are split among its cores.
      eval_training_input_configuration: PER_HOST_V1 or SLICED.
      experimental_host_call_every_n_steps: after how many steps of a loop ``host_call``
        runs again in a training.

    Raises:
      ArgumentError: (a ValueError) a value that a field cannot have.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TPUConfig:
        config = super().__new__(cls, *args, **kwargs)
        _check_numbers(config)
        per_host = config.per_host_input_for_training
        if isinstance(per_host, bool):
            pipeline = infeed.PER_HOST_V1 if per_host else infeed.PER_SHARD_V1
            config = config._replace(per_host_input_for_training=pipeline)
        _check_partitions(config)
        return config


def _check_numbers(config: TPUConfig) -> None:
    for name in ("iterations_per_loop", "num_shards", "initial_infeed_sleep_secs"):
        value = getattr(config, name)
        if value is not None and not isinstance(value, str) and int(value) < 1:
            raise ArgumentError("%s=%r" % (name, value), "it is positive", "%s=100" % name)
    cores = config.num_cores_per_replica
    if cores not in (None, 1, 2, 4, 8, 16, 32, 64, 128):
        raise ArgumentError(
            "num_cores_per_replica=%r" % (cores,),
            "a replica has 1, 2, 4, 8, 16, 32, 64 or 128 cores",
            "num_cores_per_replica=2",
        )


def _check_partitions(config: TPUConfig) -> None:
    dims, cores = config.input_partition_dims, config.num_cores_per_replica
    if dims is None:
        return
    if len(dims) not in (1, 2) or cores is None:
        raise ArgumentError(
            "input_partition_dims=%r with num_cores_per_replica=%r" % (dims, cores),
            "it has an entry for the features and one for the labels, and says how they are "
            "split among the cores of a replica",
            "input_partition_dims=[[1, 2, 1, 1], None], num_cores_per_replica=2",
        )
    if config.per_host_input_for_training != infeed.PER_HOST_V2:
        raise ArgumentError(
            "input_partition_dims with per_host_input_for_training=%r"
            % (config.per_host_input_for_training,),
            "it is supported in PER_HOST_V2 mode only, where a replica takes a batch of its own",
            "per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2",
        )


class TPURunConfig(RunConfig):
    """Says how a TPUEstimator runs, saves and logs (r1.15): ``tf.estimator.tpu.RunConfig``.

    Args:
      tpu_config: a `TPUConfig`.
      evaluation_master, master: addresses of a real TPU.
      cluster: a `TPUClusterResolver`.
      **kwargs: as for `RunConfig`.
    """

    def __init__(
        self,
        tpu_config: types.TPUConfig = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        self.master = master or (cluster.master() if cluster else "")
        self.evaluation_master = evaluation_master or self.master

    @property
    def tpu_config(self) -> types.TPUConfig:
        """The `TPUConfig` (r1.15)."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """The `TPUClusterResolver`, or None (r1.15)."""
        return self._cluster

    def replace(self, **options: Any) -> Any:
        """Returns a copy with other options (r1.15)."""
        tpu_config = options.pop("tpu_config", self._tpu_config)
        config = super().replace(**options)
        config._set_tpu_config(tpu_config)
        return config

    def _set_tpu_config(self, tpu_config: types.TPUConfig) -> None:
        self._tpu_config = tpu_config
