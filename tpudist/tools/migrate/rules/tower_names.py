"""Towers are replicas: ``num_towers`` is ``num_replicas_in_sync``, ``tower_id`` the replica's id.

October to November 2018: num_towers, then num_replicas, then
num_replicas_in_sync.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/pull/5752"
_SINGLE = "is_single_tower"
_NAMES = {
    key: new
    for key, new in surfaces.MEMBERS["v2_0"].items()
    if key[1] in ("num_towers", "num_replicas", "tower_id", "distribution_strategy")
}
USES = [*_NAMES, ("strategy", _SINGLE), ("context", _SINGLE), ("context", "device")]


def apply(use: Use) -> None:
    """Renames; ``is_single_tower`` becomes a comparison.

    Args:
      use: the `Use`.
    """
    if use.name == "device":
        use.leave("a replica has several logical devices in later releases", "context.devices[0]")
    elif use.name != _SINGLE:
        use.rename(_NAMES[use.kind, use.name])
    else:
        use.rename_member("num_replicas_in_sync")
        use.wrap(use.node, "(", " == 1)")
        use.note("num_replicas_in_sync == 1")
