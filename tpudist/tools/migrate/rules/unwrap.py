"""``unwrap(value)`` is ``experimental_local_results(value)``; ``group`` groups it.

The later method returns a tuple: where a list was added to, ``list`` is put
around it.
"""

import libcst as cst

from tpudist.tools.migrate import edits

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/issues/7252"
USES = [("strategy", "unwrap"), ("strategy", "group")]

_NEW = "experimental_local_results"


def apply(use):
    """Rewrites ``unwrap`` and ``group``.

    Args:
      use: the `Use`.
    """
    if use.name == "group":
        return _group(use)
    if use.call is not None and isinstance(use.module.parent(use.call), cst.BinaryOperation):
        return use.rewrite(
            use.call,
            lambda call: cst.Call(
                cst.Name("list"), [cst.Arg(call.with_changes(func=use.renamed(_NEW, call.func)))]
            ),
            _NEW,
        )
    return use.rename(_NEW)


def _group(use):
    if use.call is None or use.has_stars or not use.call.args:
        return use.leave(
            "the method is passed on, not called",
            "tf.group(strategy.experimental_local_results(value))",
        )

    func = use.spelled("group")

    def grouped(call):
        value = cst.Call(use.renamed(_NEW, call.func), [cst.Arg(call.args[0].value)])
        name = [edits.keyword("name", each.value) for each in call.args[1:]]
        return call.with_changes(
            func=func,
            args=[
                cst.Arg(
                    value,
                    comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
                    if name
                    else cst.MaybeSentinel.DEFAULT,
                )
            ]
            + name,
        )

    return use.rewrite(use.call, grouped, "tf.group")
