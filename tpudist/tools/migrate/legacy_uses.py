"""Finds the legacy uses of a file: of names whose owner is known, and of those without.

Each name of the table that stands in a file has one outcome: it is a rule's, it is left because
its owner is not known, or it is something else's for certain.
"""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, Tuple

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.surfaces.eras import names as era_names
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution import members, tensorflow_names
from tpudist.tools.migrate.resolution.fixed_point import Values
from tpudist.tools.migrate.resolution.module import (
    FUNCTIONS,
    dotted_name,
    first_name,
    first_word,
    imported,
)
from tpudist.tools.migrate.resolution.scopes import Scope
from tpudist.tools.migrate.rules import Rule, keras
from tpudist.tools.migrate.use import STEPS, Plan, Use

if TYPE_CHECKING:
    Found = Iterator[Tuple[str, str, Any, Rule]]

#: What the rules are asked about whose names are in no list of their own.
CARRIED_ON, CONTRIB = ("tf", "contrib.+"), ("tf", "contrib.*")
_TENSORFLOW = ("tf", "tensorflow")  # what it is called
_TPU_DEVICE = re.compile(r"/device:TPU(_SYSTEM)?:\d+\Z")
_OF_BEHAVIOURS = ("changed-defaults", "frozen-batch-norm")
_OF_GENERATIONS = ("changed-names", "first-generation", *_OF_BEHAVIOURS)
#: Members of strategies that many objects have: reported only of what is called like a strategy.
_COMMON = frozenset(
    ["run", "reduce", "update", "map", "initialize", "finalize", "broadcast", "group", "configure"]
)
_OF_OTHERS = _COMMON | {"steps_per_run", "num_hosts", "num_replicas"}  # settings have those


class Table(Dict[Tuple[str, str], Rule]):
    """{(kind, name): the first Rule that asks for it} of some rules.

    `later` has those of a later step that ask as well, `owners` {member: its kinds}, `words` the
    last words of names below ``tf``, `renames` a strategy's members that are only renamed.
    """

    def __init__(self, every: Iterable[Rule]) -> None:
        super().__init__()
        self.later: dict[tuple[str, str], Rule] = {}
        order = list(STEPS)
        for rule in every:
            for key in rule.uses:
                first = self.setdefault(key, rule)
                if order.index(first.step) < order.index(rule.step):
                    self.later[key] = rule
        self.renames = {
            name: new
            for (kind, name), rule in self.items()
            for new in [surfaces.MEMBERS[STEPS[rule.step]].get((kind, name))]
            if kind == "strategy" and new
        }
        self.owners: dict[str, set[str]] = {}
        for kind, name in self:
            if kind not in ("tf", "any", "call"):
                self.owners.setdefault(name, set()).add(kind)
        self.words = {
            name.rpartition(".")[2]
            for (kind, name), rule in self.items()
            if kind == "tf" and rule.name not in _OF_GENERATIONS  # much else has words of those
        }
        if CONTRIB in self or CARRIED_ON in self:
            self.words |= _contrib_words()

    def of_contrib(self, dotted: str) -> tuple[str, str]:
        """The key of all names of contrib that have a successor, or of those that have none."""
        return CARRIED_ON if CARRIED_ON in self and leads.successor(dotted) else CONTRIB


@functools.lru_cache(maxsize=None)
def _contrib_words() -> frozenset[str]:
    """The last words of the names and modules of contrib."""
    tables = (surfaces.GONE, surfaces.HOMES, surfaces.LEADS, surfaces.MOVED, surfaces.WRITTEN)
    found = {key.rpartition(".")[2] for table in tables for key in table}
    found.update(key.rpartition(".")[2] for key in surfaces.DROPINS["contrib"])
    found |= surfaces.SLIM_ENDED
    for module, names in surfaces.CONTRIB_NAMES.items():
        found.update(names, module.partition(".python.")[0].split("."))
    return frozenset(found)


def uses(plan: Plan, table: Table) -> Found:
    """Yields (kind, name, node, Rule) of each legacy use; unresolved ones become findings."""
    taken: set[Any] = set()
    for node in plan.module.of(ast.Attribute):
        if ("any", node.attr) in table and _may_be_any(plan, node):
            yield "any", node.attr, node, table["any", node.attr]
        if node.attr in table.words or begins_with_tensorflow(plan, node):
            yield from _of_tensorflow(plan, node, table, taken)
        if node.attr in table.owners:
            yield from _member_use(plan, node, table)
    for node in _bare_names(plan):
        yield from _of_tensorflow(plan, node, table, taken)
    yield from keras.uses(plan, table)
    yield from _tpu_devices(plan, table)
    _leave_definitions(plan, table)


def _may_be_any(plan: Plan, node: ast.Attribute) -> bool:
    """Whether a rule may ask for a method on any object, which is not the program's own."""
    keywords = [each.arg for each in getattr(plan.module.parent(node), "keywords", ())]
    if node.attr == "compile" and "distribute" not in keywords:
        return False
    values = plan.evaluator.values(plan.module, node)
    is_own = bool(values) and all(value[0] == "function" for value in values)
    return not is_own and (type(node.ctx) is ast.Load or node.attr in surfaces.GONE_DATA_OPTIONS)


def _bare_names(plan: Plan) -> Iterator[Any]:
    """The Names that may be TensorFlow's: those called, and those imported from another file."""
    module = plan.module
    for node in module.of(ast.Name):
        parent, scope = module.parent(node), module.scope(node)
        if type(node.ctx) is not ast.Load:
            continue
        if type(parent) is ast.Call and parent.func is node:
            yield node
        elif len(scope.imports(node.id)) == len(scope[node.id]):
            if not _is_imported_here(scope, node.id):
                names = [v[1] for v in plan.evaluator.values(module, node) if v[0] == "tf" and v[1]]
                if any(name.partition(".")[0] != "contrib" for name in names):
                    yield node


def _tpu_devices(plan: Plan, table: Table) -> Found:
    """Finds the first string of a file that names a device of a TPU."""
    key = ("text", "device")
    for node in plan.module.of(ast.Constant) if key in table else ():
        if _TPU_DEVICE.search(walks.text(node) or ""):
            yield (*key, node, table[key])
            return


def _is_imported_here(scope: Scope, name: str) -> bool:
    """Whether an import of TensorFlow itself binds a name: it changes there."""
    return any(
        tensorflow_names.below_tensorflow(full) is not None
        for each in scope.imports(name)
        for full, bound in imported(each.node)
        if bound == each.name
    )


def _leave_definitions(plan: Plan, table: Table) -> None:
    """Leaves what a program's own strategy class defines: TensorFlow calls the new name."""
    for node in plan.module.of(*FUNCTIONS):
        if "strategy" not in table.owners.get(node.name, ()) or node.name in _COMMON:
            continue
        owner = plan.module.parent(node)
        of = members.kind_of if type(owner) is ast.ClassDef else None
        if of is not None and of(plan.evaluator, plan.module, owner) == "strategy":
            rule = table["strategy", node.name]
            why = "a strategy of the program's own has it"
            plan.leave(node, rule.name, node.name, new_name(rule, node.name), why)


def new_name(rule: Rule, member: str) -> str:
    """The text that replaces a strategy's member."""
    new = surfaces.MEMBERS[STEPS[rule.step]].get(("strategy", member))
    return new or "see --list-rules, " + rule.name


def _of_tensorflow(plan: Plan, node: Any, table: Table, taken: set[Any]) -> Found:
    values = plan.evaluator.values(plan.module, node)
    dotted = tensorflow_names.only(values)
    key = ("tf", dotted or "")
    if dotted is not None and key in table:
        _take(node, taken)
        yield (*key, node, table[key])
        if key in table.later:
            yield (*key, node, table.later[key])
    elif dotted is not None and dotted.startswith("contrib."):
        if table.of_contrib(dotted) in table and node not in taken:
            _take(node, taken)
            yield (*key, node, table[table.of_contrib(dotted)])
    elif dotted == "contrib" and CONTRIB in table:
        if type(node) is ast.Attribute and type(plan.module.parent(node)) is not ast.Attribute:
            yield (*key, node, table[CONTRIB])
    elif dotted is not None:
        return
    elif values != {("other",)} or first_word(node) in _TENSORFLOW:
        names = {value[1] for value in values if value[0] == "tf"}
        _leave_unsure(plan, node, table, sorted(names))


def begins_with_tensorflow(plan: Plan, node: Any) -> bool:
    """Whether a Name or Attribute begins with an import of TensorFlow, or with what none binds."""
    first = first_word(node)
    if not first:
        return "tensorflow" in plan.module.code(node)  # __import__("tensorflow").x
    scope = plan.module.scope(node)
    return first in _TENSORFLOW or not scope[first] or _is_imported_here(scope, first)


def _take(node: Any, taken: set[Any]) -> None:
    """Adds a dotted name, and those that it begins with, to what is done."""
    while type(node) is ast.Attribute:
        taken.add(node)
        node = node.value


def _leave_unsure(plan: Plan, node: Any, table: Table, names: list[str]) -> None:
    """Reports an expression that is a legacy name of TensorFlow only sometimes, or perhaps."""
    parent = plan.module.parent(node)
    is_called = type(parent) is ast.Call and parent.func is node
    for dotted in names:
        rule = table.get(("tf", dotted))
        if rule is None or rule.name in _OF_BEHAVIOURS:
            continue
        if not (is_called or rule.name == "gone-names"):
            continue
        use = Use(plan, rule.name, "tf", dotted, node)
        if rule.name not in _OF_GENERATIONS or not use.is_v1():
            use.leave(
                "tf.%s, or something else" % dotted, "call each of them under a name of its own"
            )
    if first_word(node) not in _TENSORFLOW:
        return
    dotted = era_names.without_compat(dotted_name(node).partition(".")[2])
    key = ("tf", dotted)
    if key not in table:
        if not dotted.startswith("contrib.") or type(parent) is ast.Attribute:
            return
        key = table.of_contrib(dotted)
    if key not in table:
        return
    if ("unknown",) in plan.evaluator.values(plan.module, first_name(node)):
        Use(plan, table[key].name, "tf", dotted, node).leave(
            "%s may be TensorFlow" % first_word(node), "import tensorflow as tf, in this file"
        )


def _member_use(plan: Plan, node: ast.Attribute, table: Table) -> Found:
    values = plan.evaluator.values(plan.module, node.value)
    known = kinds_of(plan, values, node.attr, table)
    owners = sorted(table.owners[node.attr])
    if not known and "strategy" in owners:
        _leave_unresolved(plan, node, values, table)
    elif not known and keras.of_unknown(plan, node, values):
        yield owners[0], node.attr, node, table[owners[0], node.attr]
    for kind in sorted(known):
        rule = table[kind, node.attr]
        if len(values) == 1 or rule.name.startswith("keras-"):
            yield kind, node.attr, node, rule
        elif kind != "optimizer" or plan.module.path in plan.program.divided:
            Use(plan, rule.name, kind, node.attr, node).leave(
                "%s in some of the calls found, not in all" % surfaces.DESCRIPTIONS[kind],
                "a name of its own for each, or change this call by hand",
            )


def kinds_of(plan: Plan, values: Values, name: str, table: Table) -> set[str]:
    """The kinds that an object with these values may be, of those that have a member."""
    return members.kinds(plan.evaluator, values, name) & table.owners[name]


def _leave_unresolved(plan: Plan, node: ast.Attribute, values: Values, table: Table) -> None:
    """Reports a name that only strategies have, on an unknown owner or on a class of them."""
    name = node.attr
    rule = table["strategy", name]
    use, new = Use(plan, rule.name, "strategy", name, node), new_name(rule, name)
    made = [("object", *value[1:]) for value in values if value[0] == "class"]
    if any(members.inherits(plan.evaluator, each, name) == "strategy" for each in made) or any(
        value[0] == "tf" and tensorflow_names.is_strategy_class(value[1]) for value in values
    ):
        use.leave("a member of the class", new)
    elif type(node.ctx) is ast.Load and may_be_a_strategys(plan, node.value, name, values):
        use.leave("it may be a strategy's", new + ", if it is one")


def may_be_a_strategys(plan: Plan, owner: Any, name: str, values: Values) -> bool:
    """Whether a member of an unknown owner may be a strategy's."""
    if values and ("unknown",) not in values:
        return False
    if name not in _OF_OTHERS and (name.count("_") > 1 or plan.program.names_strategies):
        return True  # hardly anything else has it; one file's strategies are every file's
    receiver = last_word(owner)
    if name in _COMMON:
        return era_names.is_called_like_a_strategy(receiver)
    return era_names.is_of_a_strategy(name, receiver)
