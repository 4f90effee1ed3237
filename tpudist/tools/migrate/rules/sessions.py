"""Sessions stay, with ``tf.disable_v2_behavior()`` where the program starts.

Its ``tf`` becomes ``tf.compat.v1``, which has Sessions; turning them into eager
code is a rewrite of the program. A program that makes its own ``tf.Graph()``, or
chooses between graphs and eager execution itself, has no need of the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://www.tensorflow.org/guide/migrate"
USES = [
    ("tf", name) for name in ("Session", "InteractiveSession", "train.MonitoredTrainingSession")
]


def apply(use: Use) -> None:
    """Nothing: `tpudist.tools.migrate.graph_mode` changes the file that the program starts with.

    Args:
      use: the `Use`.
    """
    del use
