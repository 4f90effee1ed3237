"""``unwrap(value)`` is ``experimental_local_results(value)``; ``group`` groups it.

The later method returns a tuple: where a list was added to, ``list`` is put
around it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/issues/7252"
USES = [("strategy", "unwrap"), ("strategy", "group")]

_NEW = "experimental_local_results"


def apply(use: Use) -> None:
    """Rewrites ``unwrap`` and ``group``.

    Args:
      use: the `Use`.
    """
    if use.name == "group":
        _group(use)
        return
    if use.call is not None and isinstance(use.module.parent(use.call), ast.BinOp):
        use.wrap(use.call, "list(", ")")
    use.rename(_NEW)


def _group(use: Use) -> None:
    if use.call is None or use.has_stars or not use.arguments:
        use.leave(
            "the method is passed on, not called",
            "tf.group(strategy.experimental_local_results(value))",
        )
        return
    value, *rest = use.arguments
    start, end = use.module.span(use.call)
    use.make_positional(value)
    use.edits.wrap(start, end, use.spelled("group") + "(", "" if rest else ")")
    if rest:
        use.edits.wrap(value.start, value.end, "", ")")
        if not rest[0].name:
            use.edits.wrap(rest[0].start, rest[0].end, "name=", "")
    use.rename_member(_NEW)
    use.note("tf.group")
