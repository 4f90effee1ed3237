"""Everything else below ``tf.contrib``, which ended with TensorFlow 1.15."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/community/blob/master/rfcs/20180907-contrib-sunset.md"
USES = [("tf", "contrib.*")]


def apply(use: Use) -> None:
    """Leaves the use, and says where the name went.

    Args:
      use: the `Use`.
    """
    use.leave("tf.contrib ended with TensorFlow 1.15", surfaces.gone_text(use.name))
