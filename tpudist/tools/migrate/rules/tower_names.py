"""Towers are replicas: ``num_towers`` is ``num_replicas_in_sync``, ``tower_id`` the replica's id.

October to November 2018: num_towers, then num_replicas, then
num_replicas_in_sync.
"""

from tpudist import surfaces

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/pull/5752"
_SINGLE = "is_single_tower"
_NAMES = {
    key: new
    for key, new in surfaces.MEMBERS["v2_0"].items()
    if key[1] in ("num_towers", "num_replicas", "tower_id", "distribution_strategy")
}
USES = list(_NAMES) + [("strategy", _SINGLE), ("context", _SINGLE), ("context", "device")]


def apply(use):
    """Renames; ``is_single_tower`` becomes a comparison.

    Args:
      use: the `Use`.
    """
    import libcst as cst

    if use.name == "device":
        return use.leave(
            "a replica has several logical devices in later releases", "context.devices[0]"
        )
    if use.name != _SINGLE:
        return use.rename(_NAMES[use.kind, use.name])

    def comparison(updated):
        return cst.Comparison(
            use.renamed("num_replicas_in_sync", updated),
            [cst.ComparisonTarget(cst.Equal(), cst.Integer("1"))],
            lpar=[cst.LeftParen()],
            rpar=[cst.RightParen()],
        )

    return use.rewrite(use.node, comparison, "num_replicas_in_sync == 1")
