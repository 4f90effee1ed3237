"""``reduce(aggregation, value, destinations)`` is ``reduce(reduce_op, value, axis)``.

`axis` must be given since 2.0; None is what all earlier releases did. Values
that are to be mirrored to variables go to ``extended.reduce_to``.
"""

import libcst as cst

from tpudist.tools.migrate import edits

STEP = "2.0"
NOTE = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/distribute/Strategy#reduce"
USES = [("strategy", "reduce"), ("strategy", "batch_reduce")]

_OPERATIONS = {"SUM": "SUM", "MEAN": "MEAN", "ONLY_FIRST_TOWER": "", "ONLY_FIRST_REPLICA": ""}


def apply(use):
    """Rewrites a call whose operation is spelled out.

    Args:
      use: the `Use`.
    """
    if use.call is None:
        return use.leave(
            "the method is passed on, not called",
            "lambda op, value: strategy.reduce(op, value, axis=None)",
        )
    operation = use.argument(0, "aggregation", "reduce_op")
    value = use.argument(1, "value", "value_destination_pairs")
    if operation is None or value is None:
        return use.leave(
            "its arguments are not spelled out",
            "strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None)",
        )
    dotted = use.tensorflow_name(operation.value) or ""
    family, _, member = dotted.rpartition(".")
    if use.name == "batch_reduce":
        return _batch(use, family, member, operation)
    if use.argument(3, "axis") is not None or (family != "VariableAggregation" and _has_axis(use)):
        return None
    if family == "VariableAggregation" and member in _OPERATIONS:
        if not _OPERATIONS[member]:
            return _first(use, value)
        return _reduce(use, operation, value, "distribute.ReduceOp." + member)
    if family == "distribute.ReduceOp" or _is_of_2(use):
        return _reduce(use, operation, value, None)
    return use.leave(
        "its first argument may be a VariableAggregation",
        "strategy.reduce(tf.distribute.ReduceOp.SUM or MEAN, value, axis=None)",
    )


def _is_of_2(use):
    """Whether the call has no destinations, which those of contrib must have."""
    return (
        len(use.call.args) == 2
        and not use.has_stars
        and use.argument(0, "aggregation") is use.argument(0, "reduce_op")
    )


def _has_axis(use):
    third = use.argument(2, "axis")
    return third is not None and not isinstance(
        third.value, (cst.SimpleString, cst.FormattedString)
    )


def _is_device(use, destination):
    node = destination.value
    return isinstance(node, (cst.SimpleString, cst.FormattedString)) or (
        isinstance(node, cst.Name) and node.value == "None"
    )


def _reduce(use, operation, value, new):
    destination = use.argument(2, "destinations")
    if destination is not None and not _is_device(use, destination):
        return _to(use, operation, new)
    places = [_index(use, operation), _index(use, value)]
    spelled = use.spelled(new) if new else None

    def call(updated):
        first, second = (updated.args[place] for place in places)
        if spelled is not None:
            first = first.with_changes(value=spelled)
        return edits.with_arguments(
            updated, [_positional(first), _positional(second), edits.keyword("axis", "None")]
        )

    def text(function, arguments):
        first, second = (("", "", arguments[place][2]) for place in places)
        if new:
            first = ("", "", "%s.%s" % (use.plan.root(), new))
        return edits.call_text(function, [first, second, ("axis", "", "None")])

    return use.rewrite(use.call, edits.SpelledCall(call, text), "reduce(..., axis=None)")


def _to(use, operation, new):
    place, spelled = _index(use, operation), use.spelled(new) if new else None

    def call(updated):
        arguments = list(updated.args)
        first = arguments[place]
        if spelled is not None:
            first = first.with_changes(value=spelled)
        if first.keyword is not None:
            first = first.with_changes(keyword=cst.Name("reduce_op"))
        arguments[place] = first
        return updated.with_changes(
            func=use.renamed("extended.reduce_to", updated.func), args=arguments
        )

    return use.rewrite(use.call, call, "extended.reduce_to")


def _batch(use, family, member, operation):
    if family == "VariableAggregation" and _OPERATIONS.get(member):
        spelled = use.spelled("distribute.ReduceOp." + member)
    elif family == "distribute.ReduceOp":
        spelled = None
    else:
        return use.leave(
            "its first argument is no SUM or MEAN that can be read here",
            "strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)",
        )
    place = _index(use, operation)

    def call(updated):
        arguments = [_positional(each) for each in updated.args]
        if spelled is not None:
            arguments[place] = arguments[place].with_changes(value=spelled)
        return updated.with_changes(
            func=use.renamed("extended.batch_reduce_to", updated.func), args=arguments
        )

    if place != 0:
        return use.leave(
            "its keywords are not in the page's order",
            "strategy.extended.batch_reduce_to(reduce_op, pairs)",
        )
    return use.rewrite(use.call, call, "extended.batch_reduce_to")


def _first(use, value):
    place = _index(use, value)

    def call(updated):
        inner = updated.with_changes(
            func=use.renamed("experimental_local_results", updated.func),
            args=[cst.Arg(updated.args[place].value)],
        )
        return cst.Subscript(inner, [cst.SubscriptElement(cst.Index(cst.Integer("0")))])

    return use.rewrite(use.call, call, "experimental_local_results(...)[0]")


def _index(use, argument):
    return [each is argument for each in use.call.args].index(True)


def _positional(argument):
    return argument.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
