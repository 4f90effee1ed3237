"""Public names that today's TensorFlow has elsewhere: ``tf.keras.losses.mean_squared_error``."""

import libcst as cst

from tpudist import surfaces
from tpudist.tools.migrate.resolution import imported_values

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.16.1"
USES = [("tf", name) for name in surfaces.RENAMED_TODAY]


def apply(use):
    """Renames.

    Args:
      use: the `Use`.
    """
    new = surfaces.RENAMED_TODAY[use.name]
    if not isinstance(use.node, cst.Name) or use.module.scope(use.node)[use.node.value]:
        use.respell(new)
    elif new.rpartition(".")[0] == use.name.rpartition(".")[0] and imported_values.starred(
        use.module, use.node.value
    ):
        use.rewrite(use.node, lambda _: cst.Name(new.rpartition(".")[2]), "tf." + new)
    else:
        use.leave("an import of * brings it", "tf." + new)
