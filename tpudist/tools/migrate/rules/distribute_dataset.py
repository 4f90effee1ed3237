"""``distribute_dataset(dataset_fn)`` is ``experimental_distribute_datasets_from_function``.

Both give each replica a batch of its own; the later one passes an InputContext.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpudist.tools.migrate.rules import graph_iterators

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/issues/7252"
USES = [
    ("strategy", "distribute_dataset"),
    ("dataset", "make_one_shot_iterator"),
    ("function_dataset", "make_one_shot_iterator"),
]

_NEW = "experimental_distribute_datasets_from_function"


def apply(use: Use) -> None:
    """Rewrites the call, with a function that takes the context.

    Args:
      use: the `Use`.
    """
    if use.name == "make_one_shot_iterator":
        return _one_shot(use)
    if use.call is None or len(use.arguments) != 1 or use.has_stars:
        use.leave(
            "its one argument cannot be read here",
            "strategy.%s(lambda context: dataset_fn())" % _NEW,
        )
        return None
    (argument,) = use.arguments
    function = argument.value
    use.make_positional(argument)
    if isinstance(function, ast.Lambda) and not ast.dump(function.args).count("arg="):
        start = use.module.span(function)[0]
        use.edits.replace(start, use.module.text.index(":", start), "lambda _")
    else:
        use.edits.wrap(*use.module.outer_span(function), "lambda _: ", "()")
    made = graph_iterators.makes_its_iterator(use)
    use.rename(graph_iterators.NEW if made else _NEW)
    return None


def _one_shot(use: Use) -> None:
    if use.call is None or use.plan.program.builds_graph(use.module.path):
        use.leave(
            "distributed datasets of 2.x have no one-shot iterator in a graph",
            "dataset.make_initializable_iterator(), and run its initializer; or "
            "iter(dataset) in eager code",
        )
        return
    start, end = use.module.span(use.call)
    first, last = use.module.outer_span(use.node.value)
    if start < first:  # a parenthesis that ends behind the method's name
        use.edits.remove(start, first)
    use.edits.wrap(first, last, "iter(", "")
    use.edits.replace(last, end, ")")
    use.note("iter(dataset)")
