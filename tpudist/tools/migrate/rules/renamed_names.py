"""Public names that today's TensorFlow has elsewhere: ``tf.keras.losses.mean_squared_error``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.tools.migrate.resolution import imported_values

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.16.1"
USES = [("tf", name) for name in surfaces.RENAMED_TODAY]


def apply(use: Use) -> None:
    """Renames.

    Args:
      use: the `Use`.
    """
    new = surfaces.RENAMED_TODAY[use.name]
    if not isinstance(use.node, ast.Name) or use.module.scope(use.node)[use.node.id]:
        use.respell(new)
    elif new.rpartition(".")[0] == use.name.rpartition(".")[0] and imported_values.starred(
        use.module, use.node.id
    ):
        use.replace(use.node, new.rpartition(".")[2])
        use.note("tf." + new)
    else:
        use.leave("an import of * brings it", "tf." + new)
