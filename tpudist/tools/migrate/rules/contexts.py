"""``get_tower_context`` and the functions around it have replica names since 1.13."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/docs/blob/r1.13/site/en/api_docs/python/tf/distribute.md"
_NAMES = {
    old: new
    for old, new in surfaces.NAMES["v2_0"].items()
    if old not in surfaces.MOVED
    and (
        old.rpartition(".")[2].startswith(("get_", "has_"))
        or old.endswith(("TowerContext", "DistributionStrategy"))
    )
}
# fmt: off
_GONE = {
    "contrib.distribute.get_cross_tower_context":
        "tf.distribute.get_strategy() if tf.distribute.in_cross_replica_context() else None",
    "get_cross_tower_context":
        "tf.distribute.get_strategy() if tf.distribute.in_cross_replica_context() else None",
    "contrib.distribute.get_loss_reduction":
        "divide the loss by tf.distribute.get_strategy().num_replicas_in_sync",
}
# fmt: on
USES = [("tf", name) for name in list(_NAMES) + list(_GONE)]


def apply(use: Use) -> None:
    """Renames a function or class; what has no successor is left.

    Args:
      use: the `Use`.
    """
    if use.name in _GONE:
        use.leave("it has no successor", _GONE[use.name])
    else:
        use.respell(_NAMES[use.name])
