"""Calls with arguments that Keras 3 may not take, found by their words."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from tpudist import surfaces
from tpudist.surfaces.eras.walks import last_word

if TYPE_CHECKING:
    from typing import Iterator, Mapping

    from tpudist.tools.migrate.rules import Rule
    from tpudist.tools.migrate.use import Plan

#: {(kind, name)} of the rule that is asked.
KEY = ("call", "*")
_OF_LAYERS = frozenset(surfaces.KERAS_LAYERS)
#: {last word of a class or method: keywords that Keras 3 refuses}.
_KEYWORDS = {
    name.rpartition(".")[2]: _OF_LAYERS.union(word.partition("=")[0] for word in every)
    for table in (surfaces.KERAS_ARGUMENTS, surfaces.KERAS_RENAMED)
    for name, every in table.items()
    if not name.startswith("keras.initializers.")
}
#: Methods and classes of Keras that Keras 3 takes other arguments of, whatever their words are.
_CALLS = frozenset(
    ["add_weight", "minimize", "ModelCheckpoint", "save", "save_weights", "set_value"]
)
#: Initializers with names that tensors have as well.
_COMMON = frozenset(["constant", "identity", "ones", "random_normal", "random_uniform", "zeros"])
_OPTIMIZER = re.compile("optimizer$|^opt$")


def asks(name: str, owner: str, word: str) -> bool:
    """Whether a call of a class or method is asked for by a keyword.

    Args:
      name: its last word.
      owner: the word before that, "" if there is none.
      word: the keyword.
    """
    if word == "name":
        return name == "apply_gradients"
    if word == "weights":
        return name[:1].isupper()
    if word == "dtype":
        is_one = "keras.initializers." + name in surfaces.KERAS_ARGUMENTS
        return is_one and (owner.endswith("initializers") or name not in _COMMON)
    return word in _KEYWORDS.get(name, _OF_LAYERS) if word else False


def uses(plan: Plan, table: Mapping[tuple[str, str], Rule]) -> Iterator[tuple[str, str, Any, Rule]]:
    """The calls of a file that may have such an argument, and each ``optimizer.lr``.

    Args:
      plan: the `Plan`.
      table: {(kind, name): Rule}.

    Yields:
      (kind, name, node, Rule) of each.
    """
    rule = table.get(KEY)
    if rule is None or "keras" not in plan.module.text:
        return
    for call in plan.module.of(ast.Call):
        name = last_word(call.func)
        if name in _CALLS or any(
            asks(name, _owner(call.func), each.arg or "") for each in call.keywords
        ):
            yield "call", name, call.func, rule
    for node in plan.module.of(ast.Attribute):
        if node.attr == "lr" and is_optimizer(last_word(node.value)):
            yield "call", "lr", node, rule
        elif node.attr in surfaces.KERAS_SHAPES and last_word(node.value) != "self":
            yield "call", node.attr, node, rule


def _owner(function: Any) -> str:
    return last_word(function.value) if type(function) is ast.Attribute else ""


def of_member(plan: Plan, node: Any, rule: Rule) -> Iterator[tuple[str, str, Any, Rule]]:
    """A method that a rule asks for on whatever it stands, unless it is one of the program's own.

    Args:
      plan: the `Plan`.
      node: the Attribute.
      rule: its rule.

    Yields:
      As `uses`.
    """
    name, parent = node.attr, plan.module.parent(node)
    if name == "compile" and not _has_keyword(parent, "distribute"):
        return plan.other(node, name, "it has no distribute")
    if type(node.ctx) is not ast.Load:
        return plan.other(node, name, "it is assigned to")
    values = plan.evaluator.values(plan.module, node)
    if values and all(value[0] == "function" for value in values):
        return plan.other(node, name, "it belongs to something else")
    yield "any", name, node, rule


def _has_keyword(call: Any, word: str) -> bool:
    return type(call) is ast.Call and any(each.arg == word for each in call.keywords)


def is_optimizer(word: str) -> bool:
    """Whether something is called like an optimizer."""
    return _OPTIMIZER.search(word) is not None
