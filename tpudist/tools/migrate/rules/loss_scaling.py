"""Optimizers divided a mean loss by the number of towers up to 1.13; now the program does.

Without it the losses of a migrated contrib program are as many times too large
as it has replicas.
"""

import libcst as cst

STEP = "2.0"
NOTE = "https://github.com/tensorflow/tensorflow/blob/r1.12/tensorflow/python/training/optimizer.py"
USES = [("optimizer", "minimize"), ("optimizer", "compute_gradients")]

_REPLICAS = "distribute.get_strategy"


def apply(use):
    """Divides the loss, in files of the code base of a contrib strategy.

    Args:
      use: the `Use`.
    """
    survey = use.plan.survey
    if use.call is None or not survey.scales(use.module.path):
        return None
    loss = use.argument(0, "loss")
    if loss is not None and "num_replicas_in_sync" in use.code(loss.value):
        return None
    sums = survey.sums_losses(use.module.path)
    if sums or loss is None or use.has_stars:
        return use.leave(
            "up to 1.13 the optimizer divided a mean loss by the number of towers, and this "
            "program has sums as well"
            if sums
            else "up to 1.13 the optimizer divided this loss by the number of towers",
            "if the loss is a mean, divide it by tf.distribute.get_strategy().num_replicas_in_sync",
        )
    if isinstance(loss.value, cst.Lambda):
        return use.leave(
            "its loss is a function",
            "divide what it returns by tf.distribute.get_strategy().num_replicas_in_sync",
        )
    replicas = cst.Attribute(cst.Call(use.spelled(_REPLICAS)), cst.Name("num_replicas_in_sync"))
    return use.rewrite(
        loss.value,
        lambda updated: cst.BinaryOperation(_grouped(updated), cst.Divide(), replicas.deep_clone()),
        "loss / num_replicas_in_sync",
    )


def _grouped(node):
    simple = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
    if isinstance(node, simple) or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
