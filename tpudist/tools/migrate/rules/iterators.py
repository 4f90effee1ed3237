"""``make_dataset_iterator`` and ``experimental_run`` are distributed datasets and ``run_v2``.

    iterator = strategy.make_dataset_iterator(dataset)
    session.run(iterator.initialize())
    strategy.experimental_run(step, iterator)

becomes, in a code base that uses Sessions, an iterator that is initialised by
its ``initializer``; elsewhere ``iter(dataset)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tools.migrate.rules import graph_iterators

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/issues/7252"
_METHODS = {
    "make_dataset_iterator": "experimental_distribute_dataset",
    "make_input_fn_iterator": "experimental_distribute_datasets_from_function",
}
_RUN = "strategy.experimental_run_v2(fn, args=(iterator.get_next(),))"
USES = [("strategy", name) for name in _METHODS] + [
    ("strategy", "experimental_run"),
    ("strategy_iterator", "initialize"),
    ("iterator", "initialize"),
    ("strategy", "experimental_make_numpy_iterator"),
    ("numpy_iterator", "initialize"),
]


def apply(use: Use) -> None:
    """Rewrites the making, the initialising and the running.

    Args:
      use: the `Use`.
    """
    if use.kind == "numpy_iterator" or use.name == "experimental_make_numpy_iterator":
        use.leave(
            "it ended with TensorFlow 1.14",
            "strategy.experimental_distribute_dataset("
            "tf.data.Dataset.from_tensor_slices(arrays).batch(n)), and its iterator",
        )
    elif use.call is None or use.has_stars:
        use.leave("the method is passed on, or has starred arguments", _RUN)
    elif use.name == "experimental_run":
        _run(use)
    elif use.name == "initialize":
        _initialize(use)
    else:
        _make(use)


def _make(use: Use) -> None:
    in_graph = use.plan.program.builds_graph(use.module.path)
    kept = use.name == "make_input_fn_iterator" or graph_iterators.keeps_v2(use)
    if in_graph and kept and use.is_v1():
        return  # tf.compat.v1 has it, and there it needs no behavior of TensorFlow 1
    if in_graph:
        graph_iterators.leave_v2(use)
    if len(use.arguments) != 1:
        use.leave("it has more than one argument", "strategy.%s(...)" % _METHODS[use.name])
        return
    use.make_positional(use.arguments[0])
    if in_graph:
        use.wrap(use.call, "", ".make_initializable_iterator()")
    else:
        use.wrap(use.call, "iter(", ")")
    use.rename_member(_METHODS[use.name])
    use.note(_METHODS[use.name])


def _initialize(use: Use) -> None:
    if use.plan.program.builds_graph(use.module.path):
        use.edits.replace(
            use.module.span(use.node)[1] - len(use.node.attr),
            use.module.span(use.call)[1],
            "initializer",
        )
        use.note("initializer")
        return
    use.leave(
        "an iterator of 2.x is started when it is made",
        "iterator = iter(dataset) where the iterator is to start anew",
    )


def _run(use: Use) -> None:
    function, iterator = use.argument(0, "fn"), use.argument(1, "input_iterator")
    if function is None:
        use.leave("its function cannot be read here", _RUN)
        return
    if iterator is not None:
        use.make_positional(iterator)
        use.edits.wrap(*use.module.outer_span(iterator.value), "args=(", ".get_next(),)")
    use.rename("experimental_run_v2")
