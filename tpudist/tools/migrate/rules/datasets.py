"""Datasets of strategies, and the iterators of these and of others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tpudist.tools.migrate.rules import rule

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

_RENAMING = "https://github.com/tensorflow/models/issues/7252"
_V1 = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/"
_ONE_SHOT, _INITIALIZABLE = "make_one_shot_iterator", "make_initializable_iterator"
_FROM_FUNCTION = "experimental_distribute_datasets_from_function"
_IN_GRAPH = "make_input_fn_iterator"
#: {what makes a dataset: what makes the iterator of the same in a graph}.
_MAKING = {
    "distribute_dataset": _IN_GRAPH,
    _FROM_FUNCTION: _IN_GRAPH,
    "distribute_datasets_from_function": _IN_GRAPH,
    "experimental_distribute_dataset": "make_dataset_iterator",
}


@rule(
    "distribute-dataset",
    "2.0",
    _RENAMING,
    [("strategy", "distribute_dataset"), ("dataset", _ONE_SHOT), ("function_dataset", _ONE_SHOT)],
)
def distribute_dataset(use: Use) -> None:
    """``distribute_dataset(dataset_fn)`` is ``experimental_distribute_datasets_from_function``.

    Both give each replica a batch of its own; the later one passes an InputContext to the
    function. Its ``make_one_shot_iterator()`` is ``iter(dataset)``.
    """
    if use.name == _ONE_SHOT:
        _one_shot(use)
    elif use.call is None or len(use.arguments) != 1 or use.has_stars:
        use.leave(
            "its one argument cannot be read here",
            "strategy.%s(lambda context: dataset_fn())" % _FROM_FUNCTION,
        )
    else:
        (argument,) = use.arguments
        function = argument.value
        use.make_positional(argument)
        if type(function) is ast.Lambda and not function.args.args:
            use.edits.insert(use.module.span(function)[0] + len("lambda"), " _")
        else:
            use.edits.wrap(*use.module.outer_span(function), "lambda _: ", "()")
        use.rename(_IN_GRAPH if _iterator_of(use, use.call) else _FROM_FUNCTION)


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


_METHODS = {
    "make_dataset_iterator": "experimental_distribute_dataset",
    "make_input_fn_iterator": _FROM_FUNCTION,
}
_RUN = "strategy.experimental_run_v2(fn, args=(iterator.get_next(),))"


@rule(
    "iterators",
    "2.0",
    _RENAMING,
    [
        *(("strategy", name) for name in _METHODS),
        ("strategy", "experimental_run"),
        ("strategy", "experimental_make_numpy_iterator"),
        ("strategy_iterator", "initialize"),
        ("numpy_iterator", "initialize"),
    ],
)
def iterators(use: Use) -> None:
    """``make_dataset_iterator`` and ``experimental_run`` are distributed datasets and ``run_v2``.

        iterator = strategy.make_dataset_iterator(dataset)
        strategy.experimental_run(step, iterator)

    becomes ``iter(strategy.experimental_distribute_dataset(dataset))``, whose ``get_next()`` is
    an argument of ``experimental_run_v2``. In a graph they stay: the strategies of
    ``tf.compat.v1`` have them.
    """
    if use.kind == "numpy_iterator" or use.name == "experimental_make_numpy_iterator":
        use.leave(
            "it ended with TensorFlow 1.14",
            "strategy.experimental_distribute_dataset("
            "tf.data.Dataset.from_tensor_slices(arrays).batch(n)), and its iterator",
        )
    elif use.plan.program.builds_graph(use.module.path):
        if not use.is_v1():
            use.leave("only the strategies of tf.compat.v1 have it", "tf.compat.v1 in this file")
    elif use.name == "initialize":
        use.leave(
            "an iterator of 2.x is started when it is made",
            "iterator = iter(dataset) where the iterator is to start anew",
        )
    elif use.name == "experimental_run":
        _run(use)
    elif use.call is None or use.has_stars or len(use.arguments) != 1:
        use.leave("it has no one argument", "iter(strategy.%s(...))" % _METHODS[use.name])
    else:
        use.make_positional(use.arguments[0])
        use.wrap(use.call, "iter(", ")")
        use.rename(_METHODS[use.name])


def _run(use: Use) -> None:
    if use.call is None or use.has_stars or use.argument(0, "fn") is None:
        use.leave("its arguments are not written out", _RUN)
        return
    iterator = use.argument(1, "input_iterator")
    if iterator is not None:
        use.make_positional(iterator)
        use.edits.wrap(*use.module.outer_span(iterator.value), "args=(", ".get_next(),)")
    use.rename("experimental_run_v2")


@rule(
    "graph-iterators",
    "2.0",
    _V1 + "distribute/Strategy#make_input_fn_iterator",
    [("function_dataset", _INITIALIZABLE), ("dataset", _INITIALIZABLE)],
)
def graph_iterators(use: Use) -> None:
    """Datasets from a function have no iterators in graphs of 2.x: ``make_input_fn_iterator`` has.

    The public name of the strategies of ``tf.compat.v1`` is still the one of 1.13. It takes the
    same function, and its iterator has ``initializer`` and ``get_next``. With TensorFlow 2's
    behavior no distributed dataset has an iterator in a graph.
    """
    keeps_v2 = use.plan.program.keeps_v2(use.module.path)
    if use.kind == "dataset" and not keeps_v2:
        return
    calls = [call for name in _MAKING for call in use.module.calls_by_name.get(name, ())]
    made: list[Any] = [each for each in calls if use.call and _iterator_of(use, each) is use.call]
    if made:
        method, dataset = made[0].func, use.node.value
        new = _MAKING[method.attr]
        if method.attr != "distribute_dataset":  # that one has a rule
            use.rename_member(new, method)
        use.edits.remove(use.module.outer_span(dataset)[1], use.module.span(use.call)[1])
        use.note(new)
    else:
        use.leave(
            "it is no method of distributed datasets in graphs of 2.x",
            "iterator = strategy.make_input_fn_iterator(dataset_fn) of tf.compat.v1, or "
            "make_dataset_iterator(dataset), where the dataset is made; or "
            "tf.compat.v1.disable_v2_behavior() where the program starts",
        )


def _iterator_of(use: Use, call: ast.Call) -> Any:
    """The call that makes an iterator in a graph of what a call makes, if nothing else reads that.

    Args:
      use: a `Use` in the same file.
      call: the call that makes a dataset.

    Returns:
      The call of ``make_initializable_iterator``; None if there is none.
    """
    module, dataset, assign = use.module, call, use.module.parent(call)
    target = assign.targets[0] if type(assign) is ast.Assign else None
    if type(target) is ast.Name and len(assign.targets) == 1:
        bindings = module.scope(call)[target.id]
        is_inner = bindings[0].scope is not module.global_scope()
        if is_inner and len(bindings) == len(bindings[0].references) == 1:
            dataset = bindings[0].references[0]
    making = module.parent(dataset)
    made = module.parent(making)
    is_made = getattr(making, "attr", "") == _INITIALIZABLE and type(made) is ast.Call
    is_in_graph = use.is_v1() and use.plan.program.builds_graph(module.path)
    is_method = type(call.func) is ast.Attribute
    return made if is_made and is_in_graph and is_method and not module.arguments(made) else None


DATASET_ITERATORS = "dataset-iterators"
_OF_STRATEGIES = {("is", "dataset"), ("is", "function_dataset")}


@rule(
    DATASET_ITERATORS,
    "2.0",
    _V1 + "data/make_one_shot_iterator",
    [("any", _ONE_SHOT), ("any", _INITIALIZABLE)],
)
def dataset_iterators(use: Use) -> None:
    """Datasets of TensorFlow 2 make no iterators: ``tf.compat.v1.data`` has functions that do.

    Where a strategy may have distributed the dataset, ``make_one_shot_iterator`` is left.
    """
    if use.is_v1() or use.tensorflow_name(use.node) is not None:
        return
    if use.call is not None and use.call.args:
        return  # a function of that name
    owner = use.node.value
    if not _OF_STRATEGIES.isdisjoint(use.evaluator.values(use.module, owner)):
        return
    root, _ = use.plan.tensorflow_at(use.node)
    new = "%s.compat.v1.data.%s" % (root or "tf", use.name)
    may_be_a_strategys = use.module.path in use.plan.program.strategic
    if may_be_a_strategys and not _is_of_data(use, owner, frozenset()):
        use.leave(
            "no dataset of TensorFlow 2 has it",
            "%s(dataset); iter(dataset) if a strategy distributes it" % new,
        )
    elif use.call is None or not root:
        use.leave("no dataset of TensorFlow 2 has it", "%s(dataset)" % new)
    else:
        _, end = use.module.outer_span(owner)
        start, last = use.module.span(use.call)
        given = use.arguments[0].start if use.arguments else last - 1
        use.edits.wrap(start, end, new + "(", "")
        use.edits.replace(end, given, ", " if use.arguments else "")
        use.note(new)


def _is_of_data(use: Use, node: Any, seen: frozenset[str]) -> bool:
    """Whether an expression is a dataset of tf.data: made there, or by methods of such a one."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        name = use.tensorflow_name(node)
        if name is not None:
            return name.startswith("data.")
        node = node.func if isinstance(node, ast.Call) else node.value
    if type(node) is not ast.Name:
        return False
    if node.id in seen:
        return True
    assigned = [use.module.assign(each) for each in use.module.scope(node)[node.id]]
    return bool(assigned) and all(
        each and _is_of_data(use, each.value, seen | {node.id}) for each in assigned
    )


_SLICES = "data.Dataset.from_tensor_slices"


@rule(
    "numpy-dataset",
    "latest",
    "https://github.com/tensorflow/tensorflow/releases/tag/v2.4.0",
    [("strategy", "experimental_make_numpy_dataset")],
)
def numpy_dataset(use: Use) -> None:
    """``experimental_make_numpy_dataset`` is ``Dataset.from_tensor_slices``; gone from 2.4."""
    if use.call is None or len(use.arguments) != 1 or use.has_stars:
        use.leave("its one argument cannot be read here", "tf.%s(arrays)" % _SLICES)
        return
    use.make_positional(use.arguments[0])
    use.replace(use.node, use.spelled(_SLICES))
    use.note("tf." + _SLICES)
