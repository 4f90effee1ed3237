"""``model.compile(distribute=strategy)`` of contrib's Keras, which TensorFlow 2 refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://www.tensorflow.org/guide/distributed_training"
USES = [("any", "compile")]


def apply(use: Use) -> None:
    """Leaves the call, which has ``distribute``.

    Args:
      use: the `Use`.
    """
    use.leave(
        "TensorFlow 2 takes no distribute",
        "with strategy.scope(): around what makes and compiles the model, and dataset.batch(n) "
        "with the rows of all replicas: 1.12 gave each of them a batch",
    )
