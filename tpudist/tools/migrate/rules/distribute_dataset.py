"""``distribute_dataset(dataset_fn)`` is ``experimental_distribute_datasets_from_function``.

Both give each replica a batch of its own; the later one passes an InputContext.
"""

import libcst as cst

from tpudist.tools.migrate import edits
from tpudist.tools.migrate.rules import graph_iterators

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/issues/7252"
USES = [
    ("strategy", "distribute_dataset"),
    ("dataset", "make_one_shot_iterator"),
    ("function_dataset", "make_one_shot_iterator"),
]

_NEW = "experimental_distribute_datasets_from_function"


def apply(use):
    """Rewrites the call, with a function that takes the context.

    Args:
      use: the `Use`.
    """
    if use.name == "make_one_shot_iterator":
        return _one_shot(use)
    if use.call is None or len(use.call.args) != 1 or use.has_stars:
        return use.leave(
            "its one argument cannot be read here",
            "strategy.%s(lambda context: dataset_fn())" % _NEW,
        )
    return use.rewrite(use.call, lambda call: _call(use, call), _NEW)


def _call(use, call):
    name = graph_iterators.NEW if use.call in use.plan.iterators else _NEW
    argument = call.args[0]
    function = argument.value
    context = [cst.Param(cst.Name("_"))]
    if isinstance(function, cst.Lambda) and not function.params.params:
        new = function.with_changes(
            params=cst.Parameters(context), whitespace_after_lambda=cst.SimpleWhitespace(" ")
        )
    else:
        new = cst.Lambda(
            cst.Parameters(context),
            cst.Call(function),
            whitespace_after_lambda=cst.SimpleWhitespace(" "),
        )
    return edits.with_arguments(
        call.with_changes(func=use.renamed(name, call.func)),
        [argument.with_changes(value=new, keyword=None, equal=cst.MaybeSentinel.DEFAULT)],
    )


def _one_shot(use):
    if use.call is None or use.plan.survey.builds_graph(use.module.path):
        return use.leave(
            "distributed datasets of 2.x have no one-shot iterator in a graph",
            "dataset.make_initializable_iterator(), and run its initializer; or "
            "iter(dataset) in eager code",
        )
    return use.rewrite(
        use.call,
        lambda call: cst.Call(cst.Name("iter"), [cst.Arg(call.func.value)]),
        "iter(dataset)",
    )
