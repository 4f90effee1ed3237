"""``experimental.TPUStrategy`` is ``TPUStrategy`` since 2.3, its assignment ``experimental_``.

Below ``tf.compat.v1`` there is only the experimental one, which stays. The two are
different classes: where a code base has both, ``isinstance`` asks for either.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Sequence

from tpudist import surfaces
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution import import_origins

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.3.0"
_OLD = "distribute.experimental.TPUStrategy"
USES = [("tf", _OLD)]


def apply(use: Use) -> None:
    """Renames the class and its argument.

    Args:
      use: the `Use`.
    """
    is_v1 = import_origins.is_v1_name(use.plan, use.module, use.node)
    classes = use.plan.program.strategy_classes
    if len(classes) > 1 and _is_asked_for(use) and use.plan.target == "latest":
        _either(use, classes, is_v1)
        return
    if is_v1:
        return
    if use.call is not None:
        if use.has_stars:
            use.leave("its arguments cannot be read here", "tf.distribute.TPUStrategy")
            return
        assignment = use.argument(1, "device_assignment")
        if assignment is not None:
            value = use.module.outer_span(assignment.value)[0]
            use.edits.replace(assignment.start, value, "experimental_device_assignment=")
    use.respell(surfaces.NAMES["latest"][_OLD])


def _is_asked_for(use: Use) -> bool:
    """Whether it is the class that an ``isinstance`` asks for, on its own."""
    call = use.module.parent(use.node)
    return (
        isinstance(call, ast.Call)
        and last_word(call.func) in ("isinstance", "issubclass")
        and use.node is call.args[-1]
    )


def _either(use: Use, classes: Sequence[str], is_v1: bool) -> None:
    root = use.plan.root()
    names = [
        name
        if not is_v1
        else name.replace("compat.v1.", "")
        if "v1" in name
        else "compat.v2." + name
        for name in classes
    ]
    either = "(%s)" % ", ".join("%s.%s" % (root, name) for name in names)
    use.replace(use.node, either)
    use.note(either)
