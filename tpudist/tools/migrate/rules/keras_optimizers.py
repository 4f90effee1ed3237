"""Optimizers and their arguments that Keras 3 does not take: ``legacy.Adam``, ``lr``, ``decay``.

``lr`` is ``learning_rate`` now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://keras.io/api/optimizers/"
USES = [("tf", name) for name in (*surfaces.KERAS_OPTIMIZERS, *surfaces.KERAS_REFUSES)]


def apply(use: Use) -> None:
    """Renames ``lr``, leaves a call with ``decay`` and the optimizers of Keras 2.

    Args:
      use: the `Use`.
    """
    if use.name in surfaces.KERAS_REFUSES:
        use.leave("Keras 3 refuses to make one", surfaces.KERAS_REFUSES[use.name])
        return
    if use.call is None:
        return
    rate = use.argument(-1, "lr")
    if rate is not None:
        use.rename_keyword(rate, "learning_rate")
        use.note("learning_rate=")
    if use.argument(-1, "decay") is not None:
        use.leave(
            "no optimizer of Keras 3 takes decay",
            "learning_rate=tf.keras.optimizers.schedules.InverseTimeDecay(learning_rate, 1, decay)",
        )
