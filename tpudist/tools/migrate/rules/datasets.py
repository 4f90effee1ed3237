"""Datasets of strategies, and the iterators of these and of others."""

from __future__ import annotations

import ast
from typing import Any

from tpudist.tools.migrate.rules import rule
from tpudist.tools.migrate.use import Use

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


@rule("distribute-dataset", [("strategy", "distribute_dataset")])
def distribute_dataset(use: Use) -> None:
    """``distribute_dataset(dataset_fn)`` is ``experimental_distribute_datasets_from_function``."""
    if use.call is None or len(use.arguments) != 1 or use.has_stars:
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


#: {member: what to type in eager code}.
_EAGER = {
    "make_dataset_iterator": "iter(strategy.experimental_distribute_dataset(dataset)), and no "
    "initialize()",
    "make_input_fn_iterator": "iter(strategy.%s(fn)), and no initialize()" % _FROM_FUNCTION,
    "experimental_run": "strategy.experimental_run_v2(fn, args=(iterator.get_next(),))",
    "experimental_make_numpy_iterator": "strategy.experimental_distribute_dataset("
    "tf.data.Dataset.from_tensor_slices(arrays).batch(n)), and its iterator",
}


@rule("iterators", [("strategy", name) for name in _EAGER])
def iterators(use: Use) -> None:
    """Iterators of strategies are distributed datasets; in a graph they stay."""
    is_graph = use.is_v1() and use.module.path in use.plan.program.graphs
    if not is_graph or use.name == "experimental_make_numpy_iterator":
        use.leave("no strategy of TensorFlow 2 has it", _EAGER[use.name])


@rule("graph-iterators", [("function_dataset", _INITIALIZABLE), ("dataset", _INITIALIZABLE)])
def graph_iterators(use: Use) -> None:
    """Datasets from a function have no iterators in graphs of 2.x."""
    if use.kind == "dataset" and use.module.path not in use.plan.program.v2_graphs:
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


def _iterator_of(use: Use, call: ast.Call) -> ast.Call | None:
    """The call that makes the initializable iterator of a call's dataset in a graph, or None."""
    module, dataset, assign = use.module, call, use.module.parent(call)
    target = assign.targets[0] if type(assign) is ast.Assign else None
    if type(target) is ast.Name and len(assign.targets) == 1:
        scope = module.scope(call)
        is_inner = scope.owner(target.id) is not module.global_scope()
        references = module.references(scope, target.id)
        if is_inner and len(scope[target.id]) == len(references) == 1:
            dataset = references[0]
    making = module.parent(dataset)
    made = module.parent(making)
    is_made = getattr(making, "attr", "") == _INITIALIZABLE and type(made) is ast.Call
    is_in_graph = use.is_v1() and module.path in use.plan.program.graphs
    is_method = type(call.func) is ast.Attribute
    return made if is_made and is_in_graph and is_method and not module.arguments(made) else None


DATASET_ITERATORS = "dataset-iterators"
_OF_STRATEGIES = {("is", "dataset"), ("is", "function_dataset")}


@rule(DATASET_ITERATORS, [("any", _ONE_SHOT), ("any", _INITIALIZABLE)])
def dataset_iterators(use: Use) -> None:
    """Datasets of TensorFlow 2 make no iterators: ``tf.compat.v1.data`` has functions that do."""
    if use.tensorflow_name(use.node) is not None or use.call is not None and use.call.args:
        return  # a function of that name
    owner = use.node.value
    if not _OF_STRATEGIES.isdisjoint(use.evaluator.values(use.module, owner)):
        if use.name == _ONE_SHOT:
            use.leave("no dataset of a strategy has it", "iter(dataset), or %s()" % _INITIALIZABLE)
        return
    if use.is_v1():
        return
    root, _ = use.plan.tensorflow_at(use.node)
    new = "%s.compat.v1.data.%s" % (root or "tf", use.name)
    if use.call is None or not root or use.module.path in use.plan.program.strategic:
        use.leave(
            "no dataset of TensorFlow 2 has it",
            "%s(dataset); iter(dataset) if a strategy distributes it" % new,
        )
    else:
        _, end = use.module.outer_span(owner)
        start, last = use.module.span(use.call)
        first = use.arguments[0].start if use.arguments else last - 1
        use.edits.wrap(start, end, new + "(", "")
        use.edits.replace(end, first, ", " if use.arguments else "")
        use.note(new)


_SLICES = "data.Dataset.from_tensor_slices"


@rule("numpy-dataset", [("strategy", "experimental_make_numpy_dataset")])
def numpy_dataset(use: Use) -> None:
    """``experimental_make_numpy_dataset`` is ``Dataset.from_tensor_slices``; gone from 2.4."""
    if use.call is None or len(use.arguments) != 1 or use.has_stars:
        use.leave("its one argument cannot be read here", "tf.%s(arrays)" % _SLICES)
        return
    use.make_positional(use.arguments[0])
    use.replace(use.node, use.spelled(_SLICES))
    use.note("tf." + _SLICES)
