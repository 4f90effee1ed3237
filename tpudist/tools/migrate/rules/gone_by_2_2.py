"""Public names of TensorFlow 1.13 to 2.0 that 2.2 has not, for a migration that ends there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.tools.migrate.rules import gone_names

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.2"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.2.0"
USES = [("tf", name) for name in surfaces.GONE_BY_2_2]


def apply(use: Use) -> None:
    """Leaves the use.

    Args:
      use: the `Use`.
    """
    if (
        use.plan.target != "2.2"
        or use.name in surfaces.GONE_BY_2_2_BUT_V1
        and gone_names.is_v1(use)
    ):
        return
    use.leave("not in TensorFlow 2.2", surfaces.GONE_BY_2_2[use.name])
