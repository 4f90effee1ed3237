"""Names that today's TensorFlow has not, of a module that goes where nothing follows it.

``with made(tf.keras.backend) as K: K.get_session()``, ``import_module("tensorflow.keras")``: in
a file that hands on a module so, such a name is told on whatever is unknown.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import libcst as cst

from tpudist import surfaces
from tpudist.eras import names
from tpudist.migrate import rules
from tpudist.migrate.rules import gone_names
from tpudist.migrate.use import Use
from tpudist.resolution import builtin_calls, import_origins
from tpudist.resolution.module import last_word

if TYPE_CHECKING:
    from typing import Iterable, Iterator, Mapping

    from tpudist.migrate.rules import Rule
    from tpudist.migrate.use import Plan

    Table = Mapping[tuple[str, str], Rule]

_FIRST = frozenset(name.rpartition(".")[2] for name in surfaces.FIRST_GENERATION)
_RULES = ("gone-names", "renamed-names")
_PUT = (cst.AssignTarget, cst.AugAssign, cst.Del)
_IMPORTS = (cst.Import, cst.ImportFrom)
#: What modules are that a file imports: what is below them is none of those.
_IMPORTED = ("module", "unread", "tpudist")


def leave(plan: Plan, table: Table) -> None:
    """Leaves such names.

    Args:
      plan: the `Plan`.
      table: {(kind, name): Rule}.
    """
    modules = plan.survey.carriers.handing.get(plan.module.path)
    if not modules:
        return
    if "" in modules and "2.0" in plan.steps:
        _leave_first(plan)
    words = _words(frozenset(each for _, each in _keys(table)))
    for node in plan.module.nodes.attributes if words else ():
        if node.attr.value in words:
            _leave(plan, node, list(_written(plan, node)), modules, table)
    for node, dotted in builtin_calls.members_asked_for(plan.module):
        if dotted.rpartition(".")[2] in words:
            _leave(plan, node, dotted.split("."), modules, table)


def _leave_first(plan: Plan) -> None:
    """Leaves names of TensorFlow 1 below what stands for TensorFlow, in a file that stays of 2."""
    path = plan.module.path
    is_mixed = path in plan.survey.mixed  # its names become those of compat.v1
    if is_mixed or plan.survey.wants_v1(path) or "compat.v1" in plan.module.text:
        return
    for node in plan.module.nodes.attributes:
        if node.attr.value in _FIRST:
            dotted = plan.evaluator.tensorflow_name(plan.module, node)
            if dotted and names.is_first_generation(dotted):
                Use(plan, rules.IMPORTS, "tf", dotted, node).leave(
                    "tf.%s is in no TensorFlow 2" % dotted, "tf.compat.v1.%s" % dotted
                )


def _keys(table: Table) -> Iterator[tuple[str, str]]:
    return (key for key, rule in table.items() if key[0] == "tf" and rule.name in _RULES)


@functools.lru_cache(maxsize=8)
def _words(every: frozenset[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in every)


def _leave(plan: Plan, node: Any, words: list[str], modules: Iterable[str], table: Table) -> None:
    is_telling = _is_telling(words[-1]) or last_word(plan.module.parent(node))[:1].isupper()
    meant = _meant(words, modules, is_telling)
    full = next((each for each in meant if ("tf", each) in table), None)
    if full is None or table["tf", full].name not in _RULES:
        return
    if type(plan.module.parent(node)) in _PUT or plan.module.around(node, _IMPORTS) is not None:
        return
    values = plan.evaluator.values(plan.module, node)
    use = Use(plan, table["tf", full].name, "tf", full, node)
    if type(node) is not cst.SimpleString:
        first = plan.evaluator.values(plan.module, import_origins.first_name(node))
        if ("unknown",) not in values or any(value[0] in _IMPORTED for value in first):
            return
    if any(value[0] == "tf" for value in values) or gone_names.is_kept(use):
        return
    use.leave("it cannot be told whether this is tf.%s" % full, _instead(full))


def _meant(words: list[str], modules: Iterable[str], is_telling: bool) -> Iterator[str]:
    """The names below ``tf`` that a dotted name may end with, below some modules."""
    for start in range(len(words) - (not is_telling)):
        for module in sorted(modules):
            yield ".".join([module, *words[start:]]).strip(".")


def _is_telling(word: str) -> bool:
    """Whether hardly anything else has a name: ``x.estimator.RunConfig``, no ``x.estimator``."""
    return word != word.lower() or "_" in word.strip("_")


def _written(plan: Plan, node: Any) -> Iterator[str]:
    """The words after the dots of a dotted name, from its end."""
    words = []
    while type(node) is cst.Attribute:
        words.append(node.attr.value)
        node = node.value
    return reversed(words)


def _instead(full: str) -> str:
    if full in surfaces.RENAMED_TODAY:
        return "tf." + surfaces.RENAMED_TODAY[full]
    return surfaces.instead_of_gone(full)
