"""``RunConfig`` for the releases that have none (2.16 and newer).

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/RunConfig.md
"""

from __future__ import annotations

import copy
import json
import os
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any

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
_SAVING = ("save_checkpoints_steps", "save_checkpoints_secs")


class RunConfig:
    """How an Estimator runs, saves and logs (r1.15).

    Args:
      **options: model_dir, tf_random_seed, save_summary_steps, save_checkpoints_steps,
        save_checkpoints_secs, session_config, keep_checkpoint_max,
        keep_checkpoint_every_n_hours, log_step_count_steps, train_distribute, device_fn,
        protocol, eval_distribute, experimental_distribute,
        experimental_max_worker_delay_secs, session_creation_timeout_secs,
        checkpoint_save_graph_def; in this order if given without names.

    Raises:
      ArgumentError: (a ValueError) an unknown option, or one that cannot be; a TF_CONFIG
        of several machines.
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

    def __init__(self, *given: Any, **options: Any) -> None:
        """See the class; reference r1.15."""
        options.update(zip(_DEFAULTS, given))
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
        found = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster")
        if found:
            raise ArgumentError(
                "TF_CONFIG with the cluster %s" % sorted(found),
                "from TensorFlow 2.16 on tpudist's Estimator runs in one process; a TPU slice "
                "needs no other",
                "unset TF_CONFIG, or TensorFlow 2.15, whose Estimator runs parameter servers",
            )

    def _check(self) -> None:
        if all(self._options[name] is not None for name in _SAVING):
            raise ArgumentError(
                "save_checkpoints_steps and save_checkpoints_secs cannot be both set",
                "they are two ways to say when a checkpoint is saved",
                "one of them",
            )
        for name in _SAVING + ("save_summary_steps", "log_step_count_steps"):
            value = self._options[name]
            if value is not None and value < 0:
                raise ArgumentError("%s=%r" % (name, value), "it should be >= 0", "%s=100" % name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _DEFAULTS:
            raise AttributeError("%s has no attribute %r" % (type(self).__name__, name))
        return self._options[name]

    @property
    def cluster_spec(self) -> Any:
        """The cluster: no other machine (r1.15)."""
        return tf.train.ClusterSpec({})

    def replace(self, **options: Any) -> Any:
        """A copy with other options (r1.15)."""
        self._refuse_unknown(options)
        made = copy.copy(self)
        made._take(options)
        return made

    def _take(self, options: dict[str, Any]) -> None:
        self._options = dict(self._options, **options)
        for one, other in (_SAVING, _SAVING[::-1]):
            if options.get(one) is not None and other not in options:
                self._options[other] = None
        self._check()
