"""Names of TensorFlow 1.13 to 2.2 that today's has not: ``tf.estimator``, ..."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.tools.migrate.resolution import import_origins

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.16.1"
_NAMES = {**surfaces.GONE, **surfaces.GONE_TODAY, **surfaces.private_names()}
USES = [("tf", name) for name in _NAMES if name.partition(".")[0] != "contrib"]
#: One of them, by which others find this rule in a table.
KEY = ("tf", "keras.backend.get_session")


def apply(use: Use) -> None:
    """Leaves the use.

    Args:
      use: the `Use`.
    """
    if _is_inner(use) or is_kept(use):
        return
    use.leave("not in every TensorFlow of today", surfaces.instead_of_gone(use.name))


def is_kept(use: Use) -> bool:
    """Whether ``tf.compat.v1`` has the name still, and it is that one's."""
    return use.name in surfaces.KEPT_IN_V1 and is_v1(use)


def is_v1(use: Use) -> bool:
    """Whether a use is of a name of ``tf.compat.v1``, or becomes one."""
    return (
        import_origins.is_v1_name(use.plan, use.module, use.node)
        or use.plan.program.wants_v1(use.module.path)
        or "compat.v1" in use.module.text
        and use.tensorflow_name(import_origins.first_name(use.node)) is None
    )


def _is_inner(use: Use) -> bool:
    """Whether a longer name around it is one of these, or has moved."""
    name, node = use.name, use.module.parent(use.node)
    while type(node) is ast.Attribute:
        name += "." + node.attr
        if surfaces.gone_today(name) != use.name:
            return True
        node = use.module.parent(node)
    return False
