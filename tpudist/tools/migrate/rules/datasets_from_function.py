"""``experimental_distribute_datasets_from_function`` lost ``experimental_`` in 2.4.

A program that builds graphs on ``tf.compat.v1`` keeps it: both names are there,
and the old one is that of its strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.tools.migrate.resolution import import_origins

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.4.0"
USES = list(surfaces.MEMBERS["latest"])


def apply(use: Use) -> None:
    """Renames the method.

    Args:
      use: the `Use`.
    """
    if import_origins.is_v1(use.module):
        return None
    use.rename(surfaces.MEMBERS["latest"][use.kind, use.name])
