"""Public names of TensorFlow 1.13 to 2.0 that 2.2 has not, for a migration that ends there.

Each is told at its first use in a file, as `gone_names` does.
"""

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
    """Leaves the first use of each in a file.

    Args:
      use: the `Use`.
    """
    if (
        use.plan.target != "2.2"
        or use.name in surfaces.GONE_BY_2_2_BUT_V1
        and gone_names.is_v1(use)
    ):
        return
    gone_names.tell(use, "TensorFlow 2.2", surfaces.GONE_BY_2_2[use.name])
