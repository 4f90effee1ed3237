"""Finds calls with arguments that Keras 3 may not take, by the names of these."""

from __future__ import annotations

import ast
import collections
import re
from typing import Any, Iterator, Mapping

from tpudist import surfaces
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.rules import Rule
from tpudist.tools.migrate.use import Plan

#: {(kind, name)} of the rule that is asked.
KEY = ("call", "*")
#: {last word of a class or method: keywords that Keras 3 refuses}.
_KEYWORDS: dict[str, set[str]] = collections.defaultdict(set, apply_gradients={"name"})
for _table in (surfaces.KERAS_ARGUMENTS, surfaces.KERAS_RENAMED):
    for _name, _words in _table.items():
        _KEYWORDS[_name.rpartition(".")[2]].update(each.partition("=")[0] for each in _words)
_OF_LAYERS = {*surfaces.KERAS_LAYERS, *surfaces.KERAS_WEIGHTS}
#: Methods and classes of Keras that Keras 3 takes other arguments of, whatever their words are.
_CALLS = frozenset(
    ["add_weight", "minimize", "ModelCheckpoint", "save", "save_weights", "set_value"]
)
_OPTIMIZER = re.compile("optimizer$|^opt$")


def uses(plan: Plan, table: Mapping[tuple[str, str], Rule]) -> Iterator[tuple[str, str, Any, Rule]]:
    """The calls of a file that may have such an argument, and each ``optimizer.lr``.

    Yields (kind, name, node, Rule) of each.
    """
    rule = table.get(KEY)
    if rule is None or "keras" not in plan.module.text:
        return
    for call in plan.module.of(ast.Call):
        name = last_word(call.func)
        refused = _KEYWORDS.get(name, set()) | (_OF_LAYERS if name[:1].isupper() else set())
        if name in _CALLS or any(each.arg in refused for each in call.keywords):
            yield "call", name, call.func, rule
    for node in plan.module.of(ast.Attribute):
        if node.attr == "lr" and _OPTIMIZER.search(last_word(node.value)):
            yield "call", "lr", node, rule
        elif node.attr in surfaces.KERAS_SHAPES and last_word(node.value) != "self":
            yield "call", node.attr, node, rule


def of_member(plan: Plan, node: Any, rule: Rule) -> Iterator[tuple[str, str, Any, Rule]]:
    """Yields a method that a rule asks for on any object, unless it is the program's own."""
    name, parent = node.attr, plan.module.parent(node)
    if name == "compile" and all(
        each.arg != "distribute" for each in getattr(parent, "keywords", ())
    ):
        return
    values = plan.evaluator.values(plan.module, node)
    is_own = bool(values) and all(value[0] == "function" for value in values)
    is_asked = type(node.ctx) is ast.Load or name in surfaces.GONE_DATA_OPTIONS
    if is_asked and not is_own:
        yield "any", name, node, rule
