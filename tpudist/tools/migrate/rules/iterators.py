"""``make_dataset_iterator`` and ``experimental_run`` are distributed datasets and ``run_v2``.

    iterator = strategy.make_dataset_iterator(dataset)
    session.run(iterator.initialize())
    strategy.experimental_run(step, iterator)

becomes, in a code base that uses Sessions, an iterator that is initialised by
its ``initializer``; elsewhere ``iter(dataset)``.
"""

import libcst as cst

from tpudist.tools.migrate import edits
from tpudist.tools.migrate.rules import graph_iterators

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/issues/7252"
_METHODS = {
    "make_dataset_iterator": "experimental_distribute_dataset",
    "make_input_fn_iterator": "experimental_distribute_datasets_from_function",
}
USES = [("strategy", name) for name in _METHODS] + [
    ("strategy", "experimental_run"),
    ("strategy_iterator", "initialize"),
    ("iterator", "initialize"),
    ("strategy", "experimental_make_numpy_iterator"),
    ("numpy_iterator", "initialize"),
]


def apply(use):
    """Rewrites the making, the initialising and the running.

    Args:
      use: the `Use`.
    """
    if use.kind == "numpy_iterator" or use.name == "experimental_make_numpy_iterator":
        return use.leave(
            "it ended with TensorFlow 1.14",
            "strategy.experimental_distribute_dataset("
            "tf.data.Dataset.from_tensor_slices(arrays).batch(n)), and its iterator",
        )
    if use.call is None or use.has_stars:
        return use.leave(
            "the method is passed on, or has starred arguments",
            "strategy.experimental_run_v2(fn, args=(iterator.get_next(),))",
        )
    if use.name == "experimental_run":
        return _run(use)
    if use.name == "initialize":
        return _initialize(use)
    in_graph = use.plan.survey.builds_graph(use.module.path)
    kept = use.name == "make_input_fn_iterator" or graph_iterators.keeps_v2(use)
    if in_graph and kept and use.is_v1():
        return None  # tf.compat.v1 has it, and there it needs no behavior of TensorFlow 1
    if in_graph:
        graph_iterators.leave_v2(use)
    if len(use.call.args) != 1:
        return use.leave("it has more than one argument", "strategy.%s(...)" % _METHODS[use.name])
    return use.rewrite(use.call, lambda call: _iterator(use, call), _METHODS[use.name])


def _iterator(use, call):
    argument = call.args[0].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
    dataset = call.with_changes(func=use.renamed(_METHODS[use.name], call.func), args=[argument])
    if use.plan.survey.builds_graph(use.module.path):
        return cst.Call(cst.Attribute(dataset, cst.Name("make_initializable_iterator")))
    return cst.Call(cst.Name("iter"), [cst.Arg(dataset)])


def _initialize(use):
    if use.plan.survey.builds_graph(use.module.path):
        return use.rewrite(
            use.call, lambda call: use.renamed("initializer", call.func), "initializer"
        )
    return use.leave(
        "an iterator of 2.x is started when it is made",
        "iterator = iter(dataset) where the iterator is to start anew",
    )


def _run(use):
    function, iterator = use.argument(0, "fn"), use.argument(1, "input_iterator")
    if function is None:
        return use.leave(
            "its function cannot be read here",
            "strategy.experimental_run_v2(fn, args=(iterator.get_next(),))",
        )
    places = [
        [each is one for each in use.call.args].index(True)
        for one in (function, iterator)
        if one is not None
    ]

    def call(updated):
        arguments = [updated.args[places[0]]]
        if iterator is not None:
            element = cst.Call(cst.Attribute(updated.args[places[1]].value, cst.Name("get_next")))
            arguments += edits.packed([cst.Arg(element)])
        return edits.with_arguments(
            updated.with_changes(func=use.renamed("experimental_run_v2", updated.func)), arguments
        )

    return use.rewrite(use.call, call, "experimental_run_v2")
