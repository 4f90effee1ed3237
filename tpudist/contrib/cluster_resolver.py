"""``tf.contrib.cluster_resolver``.

Reference: https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/cluster_resolver/TPUClusterResolver.md
"""

from __future__ import annotations

from tpudist.computations import tpu_ops


class TPUClusterResolver(tpu_ops.RememberedResolver):
    """Finds a TPU by name, or a virtual TPU (r1.11)."""

    def __init__(
        self,
        tpu: str | list[str] | tuple[str, ...] | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: object = "default",
        service: object = None,
        discovery_url: str | None = None,
    ) -> None:
        """Finds a TPU by name, or a virtual TPU (r1.11).

        Args:
          tpu: name or address of the TPU, or a list with one; ``"virtual:8"`` for
            a virtual TPU. The environment variable TPUDIST_TPU overrides it.
          zone, project: of the Google Cloud project.
          job_name: name of the TPU workers' job.
          coordinator_name, coordinator_address: a coordinator to add.
          credentials, service, discovery_url: of the TPU API.

        Raises:
          TPUNameError: (a ValueError) no TPU can be found by that name.
        """
        super().__init__(
            tpu,
            zone,
            project,
            job_name,
            coordinator_name,
            coordinator_address,
            credentials,
            service,
            discovery_url,
        )
