"""``reduce(aggregation, value, destinations)`` is ``reduce(reduce_op, value, axis)``.

`axis` must be given since 2.0; None is what all earlier releases did. Values
that are to be mirrored to variables go to ``extended.reduce_to``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpudist.surfaces.eras import walks
from tpudist.tools.migrate.resolution.module import is_none

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.module import Argument
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/distribute/Strategy#reduce"
USES = [("strategy", "reduce"), ("strategy", "batch_reduce")]

_OPERATIONS = {"SUM": "SUM", "MEAN": "MEAN", "ONLY_FIRST_TOWER": "", "ONLY_FIRST_REPLICA": ""}
_TEXTS = (ast.Constant, ast.JoinedStr)  # a device, or None


def apply(use: Use) -> None:
    """Rewrites a call whose operation is spelled out.

    Args:
      use: the `Use`.
    """
    if use.call is None:
        use.leave(
            "the method is passed on, not called",
            "lambda op, value: strategy.reduce(op, value, axis=None)",
        )
        return
    operation = use.argument(0, "aggregation", "reduce_op")
    value = use.argument(1, "value", "value_destination_pairs")
    if operation is None or value is None:
        use.leave(
            "its arguments are not spelled out",
            "strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None)",
        )
        return
    family, _, member = (use.tensorflow_name(operation.value) or "").rpartition(".")
    is_aggregation = family == "VariableAggregation"
    if use.name == "batch_reduce":
        _batch(use, family, member, operation)
    elif use.argument(3, "axis") is not None or (not is_aggregation and _has_axis(use)):
        return
    elif is_aggregation and member in _OPERATIONS:
        if _OPERATIONS[member]:
            _reduce(use, operation, value, "distribute.ReduceOp." + member)
        else:
            _first(use, value)
    elif family == "distribute.ReduceOp" or _is_of_2(use):
        _reduce(use, operation, value, "")
    else:
        use.leave(
            "its first argument may be a VariableAggregation",
            "strategy.reduce(tf.distribute.ReduceOp.SUM or MEAN, value, axis=None)",
        )


def _is_of_2(use: Use) -> bool:
    """Whether the call has no destinations, which those of contrib must have."""
    if len(use.arguments) != 2 or use.has_stars:
        return False
    return use.argument(0, "aggregation") is use.argument(0, "reduce_op")


def _is_text(argument: Argument) -> bool:
    return isinstance(argument.value, _TEXTS)


def _has_axis(use: Use) -> bool:
    third = use.argument(2, "axis")
    if third is None or is_none(third.value):
        return third is not None
    return not _is_text(third) or walks.text(third.value) is None


def _reduce(use: Use, operation: Argument, value: Argument, new: str) -> None:
    destination = use.argument(2, "destinations")
    if new:
        use.replace(operation.value, use.spelled(new))
    if destination is not None and not _is_text(destination):
        if operation.name:
            use.rename_keyword(operation, "reduce_op")
        use.rename("extended.reduce_to")
        return
    if destination is not None:
        use.edits.replace(destination.start, destination.end, "axis=None")
    else:
        last = use.arguments[-1]
        use.edits.wrap(last.start, last.end, "", ", axis=None")
    if operation.start < value.start:
        use.make_positional(operation)
        use.make_positional(value)
    elif operation.name == "aggregation":
        use.rename_keyword(operation, "reduce_op")
    use.note("reduce(..., axis=None)")


def _batch(use: Use, family: str, member: str, operation: Argument) -> None:
    if family not in ("VariableAggregation", "distribute.ReduceOp") or (
        family == "VariableAggregation" and not _OPERATIONS.get(member)
    ):
        use.leave(
            "its first argument is no SUM or MEAN that can be read here",
            "strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)",
        )
        return
    if use.arguments[0] is not operation:
        use.leave(
            "its keywords are not in the page's order",
            "strategy.extended.batch_reduce_to(reduce_op, pairs)",
        )
        return
    if family == "VariableAggregation":
        use.replace(operation.value, use.spelled("distribute.ReduceOp." + member))
    for each in use.arguments:
        use.make_positional(each)
    use.rename("extended.batch_reduce_to")


def _first(use: Use, value: Argument) -> None:
    use.make_positional(value)
    use.remove_arguments([each for each in use.arguments if each is not value])
    use.rename_member("experimental_local_results")
    use.wrap(use.call, "", "[0]")
    use.note("experimental_local_results(...)[0]")
