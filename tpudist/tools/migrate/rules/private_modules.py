"""``tf.python.x``: TensorFlow's own modules as attributes, which it has not since 2.5."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.tools.migrate.gone_imports import OWN_KERAS
from tpudist.tools.migrate.resolution.module import dotted_name

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.5.0"
USES = [("tf", "python"), ("tf", "core")]


def apply(use: Use) -> None:
    """Leaves the name that begins with it, unless another rule tells that.

    Args:
      use: the `Use`.
    """
    node = use.node
    while isinstance(use.module.parent(node), ast.Attribute):
        node = use.module.parent(node)
    full = dotted_name(node).partition(".")[2]
    above, _, last = full.rpartition(".")
    if not above or surfaces.gone_today(full):
        return
    instead = "from tensorflow.%s import %s, which is no public API" % (above, last)
    if full.startswith(OWN_KERAS + "."):
        instead = surfaces.instead_of_module(full)
    use.plan.leave(node, "private-modules", use.code(node), instead, "no attribute today")
