"""Members of contrib's TPUStrategy that no later release has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = (
    "https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/"
    "distribute/TPUStrategy.md"
)
_INSTEAD = {
    "map": "a Python loop, or tf.map_fn",
    "configure": "nothing: the resolver and tf.config.experimental_connect_to_cluster do it",
    "get_host_cpu_device": "tf.device('/job:worker/task:N/device:CPU:0')",
    "worker_device_index": "tf.distribute.get_replica_context().replica_id_in_sync_group",
    "steps_per_run": "keep the number in a variable of your own",
}
USES = [("strategy", name) for name in _INSTEAD]


def apply(use: Use) -> None:
    """Leaves the use, and says what replaces it.

    Args:
      use: the `Use`.
    """
    use.leave("no strategy of 2.x has it", _INSTEAD[use.name])
