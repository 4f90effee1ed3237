"""``call_for_each_tower(fn, *args)`` is ``experimental_run_v2(fn, args=...)``.

1.13 called it ``call_for_each_replica``, 1.14 ``experimental_run_v2``, with the
arguments in a tuple and a dict.
"""

import libcst as cst

from tpudist.tools.migrate import edits

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/issues/7252"
USES = [("strategy", "call_for_each_tower"), ("strategy", "call_for_each_replica")]

_OWN = ("run_concurrently",)  # an argument of the method, not of fn


def apply(use):
    """Rewrites a call; a method that is passed around is left.

    Args:
      use: the `Use`.
    """
    if use.call is None:
        return use.leave(
            "the method is passed on, not called",
            "pass lambda fn, *args: strategy.experimental_run_v2(fn, args=args)",
        )
    first = use.call.args[0] if use.call.args else None
    if first is None or first.star or first.keyword is not None:
        return use.leave(
            "its function is not its first argument", "strategy.experimental_run_v2(fn, args=(...))"
        )
    edit = edits.SpelledCall(
        lambda call: _call(use, call), lambda function, given: _text(use, function, given)
    )
    return use.rewrite(use.call, edit, "experimental_run_v2")


def _text(use, function, arguments):
    first, *rest = arguments
    packed = edits.packed_text([each for each in rest if each[0] not in _OWN])
    function = use.renamed_text("experimental_run_v2", function)
    return function and edits.call_text(function, [first] + packed)


def _call(use, call):
    rest = [
        each for each in call.args[1:] if each.keyword is None or each.keyword.value not in _OWN
    ]
    if len(rest) + 1 == len(call.args) == 1:
        packed = []
    else:
        packed = edits.packed(rest)
    func = use.renamed("experimental_run_v2", cst.ensure_type(call.func, cst.Attribute))
    return edits.with_arguments(call.with_changes(func=func), [call.args[0]] + packed)
