"""Names of contrib that TensorFlow moved as they were: ``tf.contrib.data.map_and_batch``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/community/blob/master/rfcs/20180907-contrib-sunset.md"
_ELSEWHERE = ("contrib.cluster_resolver.", "contrib.tpu.")  # rules of their own
_NAMES = {old: new for old, new in surfaces.MOVED.items() if not old.startswith(_ELSEWHERE)}
USES = [("tf", name) for name in _NAMES]


def apply(use: Use) -> None:
    """Renames; what today's TensorFlow has with Keras 2 alone is told as well.

    Args:
      use: the `Use`.
    """
    new = _NAMES[use.name]
    use.respell(new)
    gone = surfaces.gone_prefix(new)
    if gone and use.plan.target == "latest":
        use.leave(
            "its successor tf.%s is not in every TensorFlow of today" % new, surfaces.GONE[gone]
        )
