"""Names that today's TensorFlow has not, of a module that goes where nothing follows it.

``with made(tf.keras.backend) as K: K.get_session()``, ``import_module("tensorflow.keras")``: in
a file that hands on a module so, such a name is told on whatever is unknown.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import libcst as cst

from tpudist import surfaces
from tpudist.surfaces.eras import names
from tpudist.tools.migrate import handed_on, named_in_strings, rules
from tpudist.tools.migrate.resolution import builtin_calls, import_origins
from tpudist.tools.migrate.resolution.module import last_word
from tpudist.tools.migrate.rules import gone_names
from tpudist.tools.migrate.use import Use

if TYPE_CHECKING:
    from typing import Callable, Iterable, Iterator, Mapping

    from tpudist.tools.migrate.rules import Rule
    from tpudist.tools.migrate.use import Plan

    Table = Mapping[tuple[str, str], Rule]

_FIRST = frozenset(name.rpartition(".")[2] for name in surfaces.FIRST_GENERATION)
_RULES = ("gone-names", "renamed-names")
_PUT = (cst.AssignTarget, cst.AugAssign, cst.Del)
_IMPORTS = (cst.Import, cst.ImportFrom)
_ASKING = (cst.Call, cst.Subscript)  # what is asked of something by a string
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
            _leave(plan, node, _written(node), modules, table)
    for node, dotted in builtin_calls.members_asked_for(plan.module):
        if dotted.rpartition(".")[2] in words:
            _leave(plan, node, dotted.split("."), modules, table)
    for node, owner, name in named_in_strings.asked(plan.module):
        if name in words and ("unknown",) in plan.evaluator.values(plan.module, owner):
            _leave(plan, node, [*_written(owner), name], modules, table)


def _leave_first(plan: Plan) -> None:
    """Leaves names of TensorFlow 1 below what stands for TensorFlow, in a file that stays of 2."""
    path = plan.module.path
    if plan.survey.wants_v1(path) or "compat.v1" in plan.module.text:
        return
    keywords = functools.lru_cache(maxsize=1)(functools.partial(_keywords, plan))
    is_mixed = path in plan.survey.mixed  # its names become those of compat.v1, where followed
    for node in plan.module.nodes.attributes:
        if node.attr.value in _FIRST:
            followed = plan.evaluator.tensorflow_name(plan.module, node)
            dotted = ("" if is_mixed else followed) if followed else _given(plan, node, keywords)
            if dotted and names.is_first_generation(dotted):
                Use(plan, rules.IMPORTS, "tf", dotted, node).leave(
                    "tf.%s is in no TensorFlow 2" % dotted, "tf.compat.v1.%s" % dotted
                )


def _given(plan: Plan, node: Any, keywords: Callable[[], set[str]]) -> str:
    """The name below what a word says to be TensorFlow: ``x.tf.a``, ``with f(tf) as T: T.a``."""
    if ("unknown",) not in plan.evaluator.values(plan.module, node):
        return ""
    below: list[str] = []
    while type(node) is cst.Attribute:
        below.insert(0, node.attr.value)
        node = node.value
        if not names.is_first_generation(".".join(below)):
            continue
        word = node.attr.value if type(node) is cst.Attribute else _index(node)
        is_tensorflow = type(node) is cst.Attribute and word in handed_on.ROOTS
        if is_tensorflow or word in keywords() or _is_entered(plan, node):
            return ".".join(below)
    return ""


def _index(node: Any) -> str:
    index = builtin_calls.index_of(node) if type(node) is cst.Subscript else None
    return str(index.evaluated_value) if type(index) is cst.SimpleString else ""


def _keywords(plan: Plan) -> set[str]:
    """The keywords by which TensorFlow is given to something."""
    every = (each for call in plan.module.nodes.calls for each in call.args)
    return {
        each.keyword.value for each in every if each.keyword and _is_tensorflow(plan, each.value)
    }


def _is_entered(plan: Plan, node: Any) -> bool:
    """Whether a Name is what a ``with`` has of something that is given TensorFlow."""
    if type(node) is not cst.Name:
        return False
    found = plan.module.scope(node)[node.value]
    items = [plan.module.around(each.node, cst.WithItem) for each in found if each.node is not None]
    return any(
        type(item) is cst.WithItem
        and type(item.item) is cst.Call
        and any(_is_tensorflow(plan, each.value) for each in item.item.args)
        for item in items
    )


def _is_tensorflow(plan: Plan, node: Any) -> bool:
    return type(node) is cst.Name and plan.evaluator.tensorflow_name(plan.module, node) == ""


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
    if type(node) is cst.SimpleString:
        node = plan.module.around(node, _ASKING)
    else:
        first = plan.evaluator.values(plan.module, import_origins.first_name(node))
        if ("unknown",) not in values or any(value[0] in _IMPORTED for value in first):
            return
    use = Use(plan, table["tf", full].name, "tf", full, node)
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


def _written(node: Any) -> list[str]:
    """The words after the dots of a dotted name; ``getattr(x, "name")`` is one too."""
    words: list[str] = []
    while True:
        if type(node) is cst.Attribute:
            node, name = node.value, node.attr.value
        else:
            is_asked = type(node) is cst.Call and last_word(node.func) == "getattr"
            named = builtin_calls.named_member(node) if is_asked else None
            if named is None:
                return words[::-1]
            node, name = named
        words.append(name)


def _instead(full: str) -> str:
    if full in surfaces.RENAMED_TODAY:
        return "tf." + surfaces.RENAMED_TODAY[full]
    return surfaces.instead_of_gone(full)
