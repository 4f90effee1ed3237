"""Resolvers are in ``tf.distribute.cluster_resolver``; ``get_master()`` is ``master()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = (
    "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/distribute/"
    "cluster_resolver/TPUClusterResolver"
)
_NAMES = {
    old: new
    for old, new in surfaces.NAMES["v2_0"].items()
    if old.startswith("contrib.cluster_resolver.")
}
USES = [("tf", name) for name in _NAMES] + [("resolver", "get_master")]


def apply(use: Use) -> None:
    """Renames the class and the method.

    Args:
      use: the `Use`.
    """
    if use.kind == "resolver":
        use.rename("master")
    else:
        use.respell(_NAMES[use.name])
