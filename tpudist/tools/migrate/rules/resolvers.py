"""Resolvers are in ``tf.distribute.cluster_resolver``; ``get_master()`` is ``master()``."""

from tpudist import surfaces

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


def apply(use):
    """Renames the class and the method.

    Args:
      use: the `Use`.
    """
    if use.kind == "resolver":
        return use.rename("master")
    return use.respell(_NAMES[use.name])
