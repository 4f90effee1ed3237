"""Arguments that Keras 3's optimizers do not take: ``lr``, now ``learning_rate``, and ``decay``."""

from tpudist import surfaces
from tpudist.migrate import edits

STEP = "latest"
NOTE = "https://keras.io/api/optimizers/"
USES = [("tf", name) for name in surfaces.KERAS_OPTIMIZERS]


def apply(use):
    """Renames ``lr``, leaves a call with ``decay``.

    Args:
      use: the `Use`.
    """
    if use.call is None:
        return
    rate = use.argument(-1, "lr")
    if rate is not None:
        use.rewrite(rate, edits.keyword_renamed("learning_rate"), "learning_rate=")
    if use.argument(-1, "decay") is not None:
        use.leave(
            "no optimizer of Keras 3 takes decay",
            "learning_rate=tf.keras.optimizers.schedules.InverseTimeDecay(learning_rate, 1, decay)",
        )
