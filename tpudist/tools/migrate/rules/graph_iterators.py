"""Datasets from a function have no iterators in graphs of 2.x: ``make_input_fn_iterator`` has.

The public name of the strategies of ``tf.compat.v1`` is still the one of 1.13.
It takes the same function, and its iterator has ``initializer`` and ``get_next``.
With TensorFlow 2's behavior no distributed dataset has them: ``make_dataset_iterator`` has.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tpudist.tools.migrate.use import Use

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.module import Module

STEP = "2.0"
NOTE = (
    "https://www.tensorflow.org/api_docs/python/tf/compat/v1/distribute/Strategy"
    "#make_input_fn_iterator"
)
NEW = "make_input_fn_iterator"
_OF_DATASET = "make_dataset_iterator"
_MAKING = "make_initializable_iterator"
USES = [("function_dataset", _MAKING), ("dataset", _MAKING)]


def apply(use: Use) -> None:
    """Makes the iterator where the dataset was made.

    Args:
      use: the `Use`.
    """
    made = _made(use)
    if use.kind == "dataset":
        if keeps_v2(use):
            _of_dataset(use, made)
        return
    if made is None:
        use.leave(
            "no dataset from a function has it in graphs of 2.x",
            "iterator = strategy.%s(dataset_fn) of tf.compat.v1, where the dataset is made" % NEW,
        )
        return
    if made.func.attr != "distribute_dataset":  # that one has a rule, which looks here
        use.rename_member(NEW, made.func)
    _without_making(use, NEW)


def makes_its_iterator(use: Use) -> bool:
    """Whether the iterator is made where a ``distribute_dataset`` makes its dataset.

    Args:
      use: the `Use` of that one.
    """
    module = use.module
    for node in module.of(ast.Attribute):
        if node.attr == _MAKING and use.evaluator.values(module, node.value) == {
            ("is", "function_dataset")
        }:
            inner = Use(use.plan, "", "function_dataset", _MAKING, node)
            if _made(inner) is use.call:
                return True
    return False


def keeps_v2(use: Use) -> bool:
    """Whether the program builds graphs with TensorFlow 2's behavior."""
    return use.plan.program.keeps_v2(use.module.path)


def _of_dataset(use: Use, made: Any) -> None:
    """Makes the iterator where the dataset was made, if that is seen."""
    if made is None or made.func.attr != "experimental_distribute_dataset":
        return leave_v2(use)
    use.rename_member(_OF_DATASET, made.func)
    return _without_making(use, _OF_DATASET)


def _without_making(use: Use, instead: str) -> None:
    """Takes ``.make_initializable_iterator()`` from what is the iterator now."""
    use.edits.remove(use.module.outer_span(use.node.value)[1], use.module.span(use.call)[1])
    use.note(instead)


def leave_v2(use: Use) -> None:
    """Leaves an iterator of a program whose distributed datasets are those of TensorFlow 2."""
    if keeps_v2(use):
        use.leave(
            "no distributed dataset has an initializable one with TensorFlow 2's behavior",
            "tf.compat.v1.disable_v2_behavior() where the program starts",
        )


def _made(use: Use) -> Any:
    """The call that makes the dataset: here, or given to a variable that has no other use."""
    if use.call is None or use.arguments or not use.is_v1():
        return None
    if not use.plan.program.builds_graph(use.module.path):
        return None  # an iterator of 1.13 would be read as one of eager code later
    node = use.node.value
    if isinstance(node, ast.Name):
        node = _assigned_once(use.module, node)
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if not is_method or not use.evaluator.is_only(use.module, node.func.value, "strategy"):
        return None
    return node


def _assigned_once(module: Module, name: ast.Name) -> Any:
    """What a variable is assigned to that is assigned once and read once."""
    bindings = module.scope(name)[name.id]
    if len(bindings) != 1 or len(bindings[0].references) != 1:
        return None
    assign = module.assign(bindings[0])
    if assign is None or len(assign.targets) != 1:
        return None
    if bindings[0].scope is module.global_scope():
        return None  # another file may read it
    return assign.value
