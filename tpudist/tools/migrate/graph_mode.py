"""Programs that build a graph and run it in a Session: they say so where they start.

TensorFlow 2 builds no graph by itself. ``tf.disable_v2_behavior()``, after the import
of TensorFlow in the file that a program starts with, makes it one of TensorFlow 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tools.migrate import statements

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Plan

RULE = "sessions"


def plan_call(plan: Plan, is_v1: bool) -> None:
    """Plans the call in the file that a program starts with.

    Args:
      plan: the `Plan`, with all edits of imports.
      is_v1: whether the file's ``tf`` becomes that of ``tf.compat.v1``.
    """
    root = plan.bound_root()
    statement = root and statements.binding(plan.module, root)
    if not statement:
        name = "tf" if root is None else "tensorflow_v1"
        text = "import tensorflow.compat.v1 as %s\n%s.disable_v2_behavior()\n" % (name, name)
        node = statements.put_first(plan, text)
        plan.done(node, RULE, "", text.replace("\n", "; ").strip("; "))
        return
    is_v1 = is_v1 and not plan.ignores(statement, "imports")
    call = "%s.%sdisable_v2_behavior()" % (root, "" if is_v1 else "compat.v1.")
    statements.put_after(plan, statement, call)
    plan.done(statement, RULE, plan.module.code(statement).split("\n")[-1], call)
