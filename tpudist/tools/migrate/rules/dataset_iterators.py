"""Datasets of TensorFlow 2 make no iterators: ``tf.compat.v1.data.make_one_shot_iterator`` does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

NAME = "dataset-iterators"
STEP = "2.0"
NOTE = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/data/make_one_shot_iterator"
_OF_STRATEGIES = {("is", "dataset"), ("is", "function_dataset")}
USES = [("any", "make_one_shot_iterator"), ("any", "make_initializable_iterator")]


def apply(use: Use) -> None:
    """Rewrites ``dataset.make_one_shot_iterator()``; a strategy's dataset has other rules.

    Args:
      use: the `Use`.
    """
    if use.is_v1() or use.tensorflow_name(use.node) is not None:
        return
    if use.call is not None and use.call.args:
        return  # a function of that name
    owner = use.node.value
    if not _OF_STRATEGIES.isdisjoint(use.evaluator.values(use.module, owner)):
        return
    root = use.plan.bound_root()
    new = "%s.compat.v1.data.%s" % (root or "tf", use.name)
    may_be_a_strategys = use.module.path in use.plan.program.strategic
    if may_be_a_strategys and not _is_of_data(use, owner, frozenset()):
        use.leave(
            "no dataset of TensorFlow 2 has it",
            "%s(dataset); iter(dataset) if a strategy distributes it" % new,
        )
    elif use.call is None or root is None:
        use.leave("no dataset of TensorFlow 2 has it", "%s(dataset)" % new)
    else:
        _, end = use.module.outer_span(owner)
        start = use.module.span(use.call)[0]
        given = use.arguments[0].start if use.arguments else use.module.span(use.call)[1] - 1
        use.edits.wrap(start, end, new + "(", "")
        use.edits.replace(end, given, ", " if use.arguments else "")
        use.note(new)


def _is_of_data(use: Use, node: Any, seen: frozenset[str]) -> bool:
    """Whether an expression is a dataset of tf.data: made there, or by methods of such a one."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        name = use.tensorflow_name(node)
        if name is not None:
            return name.startswith("data.")
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return False
    if node.id in seen:
        return True
    assigned = [use.module.assign(each) for each in use.module.scope(node)[node.id]]
    return bool(assigned) and all(
        each and _is_of_data(use, each.value, seen | {node.id}) for each in assigned
    )
