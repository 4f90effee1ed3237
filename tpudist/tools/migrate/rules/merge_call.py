"""``context.merge_call(fn, *args)`` is ``merge_call(fn, args=...)`` since 1.13."""

from tpudist.tools.migrate import edits

STEP = "2.0"
NOTE = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/distribute/ReplicaContext"
USES = [("context", "merge_call")]


def apply(use):
    """Packs the arguments; a call with ``args=`` is of the later form already.

    Args:
      use: the `Use`.
    """
    if (
        use.call is None
        or len(use.call.args) < 2
        or (use.argument(-1, "args") is not None or use.argument(-1, "kwargs") is not None)
    ):
        return None
    if use.call.args[0].star or use.call.args[0].keyword is not None:
        return use.leave(
            "its function is not its first argument", "context.merge_call(fn, args=(...))"
        )
    return use.rewrite(
        use.call,
        lambda call: edits.with_arguments(call, [call.args[0]] + edits.packed(call.args[1:])),
        "merge_call(fn, args=...)",
    )
