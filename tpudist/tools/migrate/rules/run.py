"""``experimental_run_v2`` is ``run`` since 2.2, and gone from 2.4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.2"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.2.0"
USES = list(surfaces.MEMBERS["v2_2"])


def apply(use: Use) -> None:
    """Renames the method.

    Args:
      use: the `Use`.
    """
    use.rename(surfaces.MEMBERS["v2_2"][use.kind, use.name])
