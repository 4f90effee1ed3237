"""Makes programs that run a graph in a Session ask for TensorFlow 1's behavior.

TensorFlow 2 builds no graph by itself. ``tf.disable_v2_behavior()``, after the import
of TensorFlow in the file that a program starts with, makes it one of TensorFlow 1.
"""

from __future__ import annotations

from typing import Any, Iterator

from tpudist.tools.migrate import imports
from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.module import Module, imported
from tpudist.tools.migrate.rules import IMPORTS
from tpudist.tools.migrate.use import Plan

RULE = "sessions"
_CALL = "disable_v2_behavior()"


def plan_call(plan: Plan, is_v1: bool, home: str) -> None:
    """Adds the call to the file that a program starts with, after its imports are planned.

    Args:
      is_v1: whether the file's ``tf`` becomes that of ``tf.compat.v1``.
      home: the full name of what a file imports as ``tf`` that imports it nowhere.
    """
    module = plan.module
    name, statement = plan.tensorflow_at(module.tree)
    places = [(statement, name)] if name else list(_imports(module))
    if not places:
        lines = [imports.statement(home, "tf"), "tf." + _CALL]
        plan.done(imports.put_first(plan, lines), RULE, "", "; ".join(lines))
        return
    statement, name = places[0]
    seen = module.code(statement).split("\n")[-1]
    if len(places) > 1:
        why = "a program of TensorFlow 1 starts here, and imports it in several functions"
        plan.leave(statement, RULE, seen, "tf.compat.v1.%s after the first" % _CALL, why, False)
        return
    is_v1 = is_v1 and not plan.ignores(statement, IMPORTS)
    call = "%s.%s%s" % (name, "" if is_v1 else "compat.v1.", _CALL)
    imports.put_behind(plan, statement, [call])
    plan.done(statement, RULE, seen, call)


def _imports(module: Module) -> Iterator[tuple[Any, str]]:
    """Yields (import statement, name) of each that binds ``tf``, wherever it stands."""
    for node in module.imports:
        for full, bound in imported(node):
            if tensorflow_names.below_tensorflow(full) == "":
                yield node, bound
