"""Members of strategies, of their contexts, and of the optimizers beside them."""

from __future__ import annotations

import ast

from tpudist.surfaces.eras import walks
from tpudist.tools.migrate.resolution.module import Argument
from tpudist.tools.migrate.rules import rule
from tpudist.tools.migrate.use import Use

_REPLICAS = "num_replicas_in_sync"
_DIVIDE = "divide %s by tf.distribute.get_strategy().num_replicas_in_sync"
_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@rule("loss-scaling", [("optimizer", "minimize"), ("optimizer", "compute_gradients")])
def scale_losses(use: Use) -> None:
    """Optimizers divided a mean loss by the number of towers up to 1.13; now the program does."""
    program = use.plan.program
    if use.module.path not in program.divided:
        return
    if use.call is None:
        why = "up to 1.13 the optimizer divided a mean loss by the number of towers"
        use.leave(why, "where it is called, if the loss is a mean, " + _DIVIDE % "it", lasts=False)
        return
    loss = use.argument(0, "loss")
    if loss is not None and _REPLICAS in use.code(loss.value):
        return
    if loss is None or use.module.path in program.summing | program.divided_in_part:
        use.leave(
            "up to 1.13 the optimizer divided a mean loss by the number of towers; here the loss "
            "cannot be read, or the program has sums, or experimental_run_v2, as well",
            "if the loss is a mean, " + _DIVIDE % "it",
            lasts=False,
        )
    elif type(loss.value) is ast.Lambda:
        use.leave("its loss is a function", _DIVIDE % "what it returns", lasts=False)
    else:
        start, end = use.module.outer_span(loss.value)
        is_grouped = isinstance(loss.value, _SIMPLE) or use.module.text[start] == "("
        replicas = "%s().%s" % (use.spelled("distribute.get_strategy"), _REPLICAS)
        before, after = ("", " / ") if is_grouped else ("(", ") / ")
        use.edits.wrap(start, end, before, after + replicas)
        use.note("loss / " + _REPLICAS)


_OF_METHOD = "run_concurrently"  # an argument of the method, not of fn


@rule(
    "call-for-each-tower",
    [("strategy", "call_for_each_tower"), ("strategy", "call_for_each_replica")],
)
def call_for_each_tower(use: Use) -> None:
    """``call_for_each_tower(fn, *args)`` is ``experimental_run_v2(fn, args=...)``."""
    arguments = use.arguments if use.call is not None else []
    own = [each for each in arguments if each.name == _OF_METHOD]
    if not arguments or not use.pack([each for each in arguments[1:] if each not in own]):
        use.leave(
            "its function and arguments are not all written out",
            "strategy.experimental_run_v2(fn, args=(...), kwargs={...})",
        )
        return
    use.remove_arguments(own)
    use.rename("experimental_run_v2")


@rule("merge-call", [("context", "merge_call")])
def merge_call(use: Use) -> None:
    """``context.merge_call(fn, *args)`` is ``merge_call(fn, args=...)`` since 1.13."""
    if use.call is None or len(use.arguments) < 2:
        return
    if use.argument(-1, "args", "kwargs") is not None:
        return  # it is of the later form already
    if use.pack(use.arguments[1:]):
        use.note("merge_call(fn, args=...)")
    else:
        use.leave(
            "its function and arguments are not all written out",
            "context.merge_call(fn, args=(...), kwargs={...})",
        )


@rule("unwrap", [("strategy", "unwrap"), ("strategy", "group")])
def unwrap(use: Use) -> None:
    """``unwrap(value)`` is ``experimental_local_results(value)``; ``group`` groups it."""
    new = "experimental_local_results"
    if use.name == "unwrap":
        if use.call is not None and type(use.module.parent(use.call)) is ast.BinOp:
            use.wrap(use.call, "list(", ")")
        use.rename(new)
    elif use.call is None or use.has_stars or len(use.arguments) != 1:
        use.leave("it has no one argument", "tf.group(strategy.%s(value))" % new)
    else:
        use.make_positional(use.arguments[0])
        use.wrap(use.call, use.spelled("group") + "(", ")")
        use.rename_member(new)
        use.note("tf.group")


@rule("reduce", [("strategy", "reduce")])
def reduce(use: Use) -> None:
    """``reduce(aggregation, value, destinations)`` is ``reduce(reduce_op, value, axis)``."""
    operation = use.call and use.argument(0, "aggregation", "reduce_op")
    value = use.call and use.argument(1, "value")
    if not operation or not value or operation.start > value.start:
        use.leave(
            "its operation and value are not written out, in this order",
            "strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None)",
        )
        return
    family, _, member = (use.tensorflow_name(operation.value) or "").rpartition(".")
    is_aggregation = family == "VariableAggregation"
    third = use.argument(2, "axis")
    if third is not None and (third.name or not is_aggregation and not _is_device(use, third)):
        return  # an axis, which contrib has not
    destination = use.argument(2, "destinations")
    is_known = is_aggregation and member in ("SUM", "MEAN") or family == "distribute.ReduceOp"
    is_later = len(use.arguments) == 2 and not operation.name  # calls of contrib have destinations
    if not (is_known or is_later) or destination and not _is_device(use, destination):
        use.leave(
            "it may be a VariableAggregation, or for the devices of a variable",
            "tf.distribute.ReduceOp.SUM or MEAN; of the first tower alone "
            "strategy.experimental_local_results(value)[0]; for a variable "
            "strategy.extended.reduce_to(reduce_op, value, variable)",
        )
        return
    if is_aggregation:
        use.replace(operation.value, use.spelled("distribute.ReduceOp." + member))
    use.make_positional(operation)
    use.make_positional(value)
    if destination is None:
        use.edits.wrap(value.start, value.end, "", ", axis=None")
    else:
        use.edits.replace(destination.start, destination.end, "axis=None")
    use.note("reduce(..., axis=None)")


def _is_device(use: Use, argument: Argument) -> bool:
    """Whether an argument is the name of a device, or None."""
    value = argument.value
    is_text = type(value) is ast.JoinedStr or walks.text(value) is not None
    return is_text or use.code(value) == "None"
