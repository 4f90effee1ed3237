"""``experimental_distribute_datasets_from_function`` lost ``experimental_`` in 2.4.

A program that builds graphs on ``tf.compat.v1`` keeps it: both names are there,
and the old one is that of its strategy.
"""

from tpudist import surfaces
from tpudist.tools.migrate.resolution import import_origins

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.4.0"
USES = list(surfaces.MEMBERS["latest"])


def apply(use):
    """Renames the method.

    Args:
      use: the `Use`.
    """
    if import_origins.is_v1(use.module):
        return None
    return use.rename(surfaces.MEMBERS["latest"][use.kind, use.name])
