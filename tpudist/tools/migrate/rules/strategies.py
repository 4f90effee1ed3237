"""Members of strategies, of their contexts, and of the optimizers beside them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.surfaces.eras import walks
from tpudist.tools.migrate.rules import rule

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.module import Argument
    from tpudist.tools.migrate.use import Use

_DOCS = "https://github.com/tensorflow/docs/blob/"
_PAGES = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/distribute/"
_RENAMING = "https://github.com/tensorflow/models/issues/7252"

_REPLICAS = "num_replicas_in_sync"
_DIVIDE = "divide %s by tf.distribute.get_strategy().num_replicas_in_sync"
_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@rule(
    "loss-scaling",
    "2.0",
    "https://github.com/tensorflow/tensorflow/blob/r1.12/tensorflow/python/training/optimizer.py",
    [("optimizer", "minimize"), ("optimizer", "compute_gradients")],
)
def scale_losses(use: Use) -> None:
    """Optimizers divided a mean loss by the number of towers up to 1.13; now the program does.

    Without it the losses of a migrated contrib program are as many times too large as it has
    replicas.
    """
    program = use.plan.program
    if use.call is None or not program.scales(use.module.path):
        return
    loss = use.argument(0, "loss")
    if loss is not None and _REPLICAS in use.code(loss.value):
        return
    if loss is None or program.sums_losses(use.module.path):
        use.leave(
            "up to 1.13 the optimizer divided a mean loss by the number of towers; here the loss "
            "cannot be read, or the program has sums as well",
            "if the loss is a mean, " + _DIVIDE % "it",
        )
    elif type(loss.value) is ast.Lambda:
        use.leave("its loss is a function", _DIVIDE % "what it returns")
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
    "2.0",
    _RENAMING,
    [("strategy", "call_for_each_tower"), ("strategy", "call_for_each_replica")],
)
def call_for_each_tower(use: Use) -> None:
    """``call_for_each_tower(fn, *args)`` is ``experimental_run_v2(fn, args=...)``.

    1.13 called it ``call_for_each_replica``, 1.14 ``experimental_run_v2``, with the arguments in
    a tuple and a dict. A method that is passed on, and a call with stars, are left.
    """
    if use.call is None:
        use.leave(
            "the method is passed on, not called",
            "pass lambda fn, *args: strategy.experimental_run_v2(fn, args=args)",
        )
        return
    own = [each for each in use.arguments if each.name == _OF_METHOD]
    if not use.pack([each for each in use.arguments[1:] if each not in own]):
        use.leave(
            "its function and arguments are not all written out",
            "strategy.experimental_run_v2(fn, args=(...), kwargs={...})",
        )
        return
    use.remove_arguments(own)
    use.rename("experimental_run_v2")


@rule("merge-call", "2.0", _PAGES + "ReplicaContext", [("context", "merge_call")])
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


@rule("unwrap", "2.0", _RENAMING, [("strategy", "unwrap"), ("strategy", "group")])
def unwrap(use: Use) -> None:
    """``unwrap(value)`` is ``experimental_local_results(value)``; ``group`` groups it.

    The later method returns a tuple: where a list was added to, ``list`` is put around it.
    """
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


_REDUCTIONS = ("SUM", "MEAN")
_FIRST = ("ONLY_FIRST_TOWER", "ONLY_FIRST_REPLICA")


@rule(
    "reduce",
    "2.0",
    _PAGES + "Strategy#reduce",
    [("strategy", "reduce"), ("strategy", "batch_reduce")],
)
def reduce(use: Use) -> None:
    """``reduce(aggregation, value, destinations)`` is ``reduce(reduce_op, value, axis)``.

    `axis` must be given since 2.0; None is what all earlier releases did. Values that are to be
    mirrored to variables go to ``extended.reduce_to``, and the one of the first tower comes from
    ``experimental_local_results``. A call whose operation is not spelled out is left.
    """
    is_batch = use.name == "batch_reduce"
    operation = use.call and use.argument(0, "aggregation", "reduce_op")
    value = use.call and use.argument(1, "value_destination_pairs" if is_batch else "value")
    if not operation or not value or operation.start > value.start:
        use.leave(
            "its operation and value are not written out, in this order",
            "strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)"
            if is_batch
            else "strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None)",
        )
        return
    family, _, member = (use.tensorflow_name(operation.value) or "").rpartition(".")
    is_aggregation = family == "VariableAggregation"
    third = use.argument(2, "axis")
    if third is not None and (third.name or not is_aggregation and not _is_device(third)):
        return  # an axis, which contrib has not
    if is_aggregation and member in _FIRST and not is_batch:
        use.make_positional(value)
        use.remove_arguments([each for each in use.arguments if each is not value])
        use.wrap(use.call, "", "[0]")
        use.rename("experimental_local_results")
    elif is_aggregation and member in _REDUCTIONS or family == "distribute.ReduceOp":
        _reduce(use, operation, value, "distribute.ReduceOp." + member if is_aggregation else "")
    elif not is_batch and len(use.arguments) == 2 and not operation.name:
        _reduce(use, operation, value, "")  # those of contrib have destinations
    else:
        use.leave(
            "its first argument may be a VariableAggregation",
            "tf.distribute.ReduceOp.SUM or MEAN; of the first tower alone "
            "strategy.experimental_local_results(value)[0]",
        )


def _is_device(argument: Argument) -> bool:
    value = argument.value
    return type(value) is ast.JoinedStr or walks.text(value) is not None


def _reduce(use: Use, operation: Argument, value: Argument, new: str) -> None:
    destination = use.argument(2, "destinations")
    if new:
        use.replace(operation.value, use.spelled(new))
    use.make_positional(operation)
    use.make_positional(value)
    if use.name == "batch_reduce":
        use.rename("extended.batch_reduce_to")
    elif destination is None:
        use.edits.wrap(value.start, value.end, "", ", axis=None")
        use.note("reduce(..., axis=None)")
    elif _is_device(destination) or use.code(destination.value) == "None":
        use.edits.replace(destination.start, destination.end, "axis=None")
        use.note("reduce(..., axis=None)")
    else:
        use.rename("extended.reduce_to")


_EXTENDED = {
    key: new
    for key, new in surfaces.MEMBERS["v2_0"].items()
    if new.startswith("extended.") and key[1] != "batch_reduce"
}
#: {method: what it is called with of ``extended``}.
_CALLED = {
    "broadcast": "(tensor, strategy.extended.worker_devices)",
    "update": "(var, fn, args=(...))",
    "update_non_slot": "(colocate_with, fn, args=(...))",
}


@rule(
    "extended",
    "2.0",
    _DOCS + "r1.14/site/en/api_docs/python/tf/distribute/StrategyExtended.md",
    _EXTENDED,
)
def extended(use: Use) -> None:
    """Members for library writers moved to ``strategy.extended`` in 1.14.

    ``update(var, fn, *args)`` became ``extended.update(var, fn, args=(...))``, and
    ``broadcast_to`` must be told where to.
    """
    new = _EXTENDED[use.kind, use.name]
    if use.name not in _CALLED:
        use.rename(new)
    elif use.call is None or len(use.arguments) < 2 or not _is_called_so(use):
        use.leave("its arguments are not all written out", "strategy." + new + _CALLED[use.name])
    else:
        use.rename(new)


def _is_called_so(use: Use) -> bool:
    """Whether the arguments are, or can be made, those of the method of ``extended``."""
    if use.name == "broadcast":
        return not use.has_stars
    own = [each for each in use.arguments if each.name == "grouped"]
    rest = [each for each in use.arguments[2:] if each not in own]
    if use.arguments[1].name or not use.pack(rest):
        return False
    for each in own:
        use.rename_keyword(each, "group")
    return True


@rule(
    "run-steps-on-dataset",
    "2.0",
    _DOCS + "r1.11/site/en/api_docs/python/tf/contrib/distribute/TPUStrategy.md",
    [("strategy", "run_steps_on_dataset")],
)
def run_steps_on_dataset(use: Use) -> None:
    """``run_steps_on_dataset(fn, iterator, n)`` is a loop in a ``tf.function``, written by hand.

    What sets an output of the last step, ``context.set_last_step_output("loss", losses, how)``
    with ``tf.VariableAggregation.MEAN``, becomes what the step returns. In eager code:

        @tf.function
        def loop(iterator):
            for _ in tf.range(n - 1):
                step(next(iterator))
            losses = step(next(iterator))
            return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    In a Session, run the op of one step n times. ``--level import`` keeps the file as it was.
    """
    if use.plan.program.builds_graph(use.module.path):
        use.leave("no strategy of 2.x has it", "session.run the op of one step n times")
    else:
        use.leave("no strategy of 2.x has it", "a tf.function with a loop over tf.range(n)")
