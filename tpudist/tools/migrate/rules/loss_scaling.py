"""Optimizers divided a mean loss by the number of towers up to 1.13; now the program does.

Without it the losses of a migrated contrib program are as many times too large
as it has replicas.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/tensorflow/blob/r1.12/tensorflow/python/training/optimizer.py"
USES = [("optimizer", "minimize"), ("optimizer", "compute_gradients")]

_REPLICAS = "num_replicas_in_sync"
_DIVIDE = "divide %s by tf.distribute.get_strategy().num_replicas_in_sync"
_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def apply(use: Use) -> None:
    """Divides the loss, in files of the code base of a contrib strategy.

    Args:
      use: the `Use`.
    """
    program = use.plan.program
    if use.call is None or not program.scales(use.module.path):
        return
    loss = use.argument(0, "loss")
    if loss is not None and _REPLICAS in use.code(loss.value):
        return
    sums = program.sums_losses(use.module.path)
    if sums or loss is None or use.has_stars:
        use.leave(
            "up to 1.13 the optimizer divided a mean loss by the number of towers, and this "
            "program has sums as well"
            if sums
            else "up to 1.13 the optimizer divided this loss by the number of towers",
            "if the loss is a mean, " + _DIVIDE % "it",
        )
    elif isinstance(loss.value, ast.Lambda):
        use.leave("its loss is a function", _DIVIDE % "what it returns")
    else:
        start, end = use.module.outer_span(loss.value)
        is_grouped = isinstance(loss.value, _SIMPLE) or use.module.text[start] == "("
        replicas = "%s().%s" % (use.spelled("distribute.get_strategy"), _REPLICAS)
        before, after = ("", " / ") if is_grouped else ("(", ") / ")
        use.edits.wrap(start, end, before, after + replicas)
        use.note("loss / " + _REPLICAS)
