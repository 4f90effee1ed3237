"""``RunConfig`` of a TPUEstimator, whose cluster may be a virtual TPU.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/RunConfig.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.core import cluster as clusters
from tpudist.estimator import names

if TYPE_CHECKING:
    from typing import Any

InputPipelineConfig: Any = names.load_tpu("InputPipelineConfig")
TPUConfig: Any = names.load_tpu("TPUConfig")
TPUEstimatorSpec: Any = names.load_tpu("TPUEstimatorSpec")
_RunConfig: Any = names.load_tpu("RunConfig")


class RunConfig(_RunConfig):
    """How a TPUEstimator runs, saves and logs (r1.15).

    Args:
      tpu_config: a `TPUConfig`.
      evaluation_master: address of the evaluating Session's target.
      master: address of the training Session's target, or a TPU's name.
      cluster: a `TPUClusterResolver`.
      **kwargs: as for ``tf.estimator.RunConfig``.
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
        named = master if clusters.is_virtual(master) else None
        resolver = clusters.resolve(cluster or named) if cluster or named else None
        if clusters.system_of(resolver) is None:
            super().__init__(tpu_config, evaluation_master, master, cluster, **kwargs)
            return
        super().__init__(tpu_config, "", "", None, **kwargs)
        self._cluster = resolver
