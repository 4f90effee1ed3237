"""The names of ``tf.estimator.tpu``, which were below ``tf.contrib.tpu`` before.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu.md
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tpudist.estimator import lookup
from tpudist.estimator.tpu_estimator import TPUEstimator
from tpudist.system import cluster as clusters
from tpudist.system import tasks

if TYPE_CHECKING:
    from tpudist import annotations as types

InputPipelineConfig: Any = lookup.load_tpu("InputPipelineConfig")
TPUConfig: Any = lookup.load_tpu("TPUConfig")
TPUEstimatorSpec: Any = lookup.load_tpu("TPUEstimatorSpec")
_RunConfig: Any = lookup.load_tpu("RunConfig")

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec"]


class RunConfig(_RunConfig):
    """Says how a TPUEstimator runs, saves and logs; its TPU may be a virtual one (r1.15).

    Args:
      tpu_config: a `TPUConfig`.
      evaluation_master: address of the evaluating Session's target.
      master: address of the training Session's target, or a TPU's name.
      cluster: a `TPUClusterResolver`.
      **kwargs: as for ``tf.estimator.RunConfig``.
    """

    def __init__(
        self,
        tpu_config: types.TPUConfig = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: types.Resolver = None,
        **kwargs: Any,
    ) -> None:
        virtual_name = master if clusters.is_virtual(master) else None
        tpu = cluster or virtual_name
        resolver = clusters.resolve(tpu) if tpu else None
        system = clusters.system_of(resolver)
        if system is None:
            super().__init__(tpu_config, evaluation_master, master, cluster, **kwargs)
            return
        with tasks.hidden() if system.is_cluster else contextlib.nullcontext():
            # TensorFlow's reads TF_CONFIG as that of a training without TPUs.
            super().__init__(tpu_config, "", "", None, **kwargs)
        self._cluster = resolver
