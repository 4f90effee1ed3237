"""Finding the legacy uses of a file: names whose owner is resolved, and what cannot be told.

Each name of the table that stands in a file has one outcome: it is a rule's, it
is left because it cannot be told what it belongs to, or it is something else's
for certain (`Plan.other`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, Tuple

from tpudist import surfaces
from tpudist.surfaces.eras import names as era_names
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate import contrib_words, keras_calls
from tpudist.tools.migrate.common_members import COMMON, OF_OTHERS, is_call_of_others
from tpudist.tools.migrate.resolution import members, tensorflow_names
from tpudist.tools.migrate.resolution.import_origins import first_name, first_word
from tpudist.tools.migrate.resolution.module import FUNCTIONS, dotted_name, imported
from tpudist.tools.migrate.rules import Rule
from tpudist.tools.migrate.use import STEPS, Use

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.fixed_point import Values
    from tpudist.tools.migrate.use import Plan

    Found = Iterator[Tuple[str, str, Any, Rule]]

#: What the rules are asked about whose names are in no list of their own.
CARRIED_ON, CONTRIB = ("tf", "contrib.+"), ("tf", "contrib.*")
_OF_BOTH = "changed-names"
_TENSORFLOW = ("tf", "tensorflow")  # what it is called
_AGGREGATIONS = ("VariableAggregation.", "distribute.ReduceOp.")


class Table(Dict[Tuple[str, str], Rule]):
    """{(kind, name): Rule} of some rules, the first one of those that ask for a name.

    Attributes:
      owners: {member: the kinds that have it}.
      last: the last words of names below ``tf``.
      of_both: those of names that both generations have, of which much else has some as well.
    """

    def __init__(self, every: Iterable[Rule]) -> None:
        super().__init__()
        for rule in every:
            for key in rule.uses:
                self.setdefault(key, rule)
        self.owners: dict[str, set[str]] = {}
        for kind, name in self:
            if kind not in ("tf", "any", "call"):
                self.owners.setdefault(name, set()).add(kind)
        self.last: set[str] = set()
        self.of_both: set[str] = set()
        for (kind, name), rule in self.items():
            if kind == "tf":
                words = self.of_both if rule.name == _OF_BOTH else self.last
                words.add(name.rpartition(".")[2])

    def of_contrib(self, dotted: str) -> tuple[str, str]:
        """The key of all names of contrib that have a successor, or of those that have none."""
        return CARRIED_ON if CARRIED_ON in self and surfaces.successor(dotted) else CONTRIB


def uses(plan: Plan, table: Table) -> Found:
    """The uses that a table of rules is asked about; what cannot be told is left.

    Args:
      plan: the `Plan`.
      table: a `Table`.

    Yields:
      (kind, name, node, Rule) of each use.
    """
    module = plan.module
    has_contrib = CONTRIB in table or CARRIED_ON in table
    words = contrib_words.every() if has_contrib else ()
    roots = contrib_words.roots(module) if has_contrib else ()
    taken: set[Any] = set()
    for node in module.of(ast.Attribute):
        name = node.attr
        if ("any", name) in table:
            yield from keras_calls.of_member(plan, node, table["any", name])
        is_of_both = name in table.of_both and begins_with_tensorflow(plan, node)
        if is_of_both or name in table.last or name in words or first_word(node) in roots:
            yield from _of_tensorflow(plan, node, table, taken)
        if name in table.owners:
            yield from _member_use(plan, node, table.owners[name], table)
    for node in _bare_names(plan):
        yield from _of_tensorflow(plan, node, table, taken)
    yield from keras_calls.uses(plan, table)
    _leave_definitions(plan, table)


def _bare_names(plan: Plan) -> Iterator[Any]:
    """The Names that may be of TensorFlow: those called, and those that another file gives."""
    module = plan.module
    for node in module.of(ast.Name):
        parent = module.parent(node)
        if type(node.ctx) is not ast.Load:
            continue
        if type(parent) is ast.Call and parent.func is node:
            yield node
        else:
            bindings = module.scope(node)[node.id]
            is_from_another = all(each.is_import for each in bindings)
            if is_from_another and not _is_imported_here(plan, bindings):
                names = plan.evaluator.tensorflow_names(module, node)
                if any(name and name.partition(".")[0] != "contrib" for name in names):
                    yield node


def _is_imported_here(plan: Plan, bindings: Any) -> bool:
    """Whether an import of TensorFlow itself binds a name: it changes there."""
    return any(
        tensorflow_names.below_tensorflow(full) is not None
        for each in bindings
        if each.is_import
        for full, bound in imported(each.node)
        if bound == each.name
    )


def _leave_definitions(plan: Plan, table: Table) -> None:
    """Leaves what a program's own strategy class defines: TensorFlow calls the new name."""
    for node in plan.module.of(*FUNCTIONS):
        if "strategy" not in table.owners.get(node.name, ()) or node.name in COMMON:
            continue
        owner = plan.module.parent(node)
        if type(owner) is ast.ClassDef and members.is_strategy(plan.evaluator, plan.module, owner):
            rule = table["strategy", node.name]
            seen = "%s: a strategy of the program's own has it" % node.name
            plan.leave(node, rule.name, seen, new_name(rule, node.name))


def new_name(rule: Rule, member: str, kind: str = "strategy") -> str:
    """What to type instead of a member that a rule asks for."""
    new = surfaces.MEMBERS[STEPS[rule.step]].get((kind, member))
    return new or "see --list-rules, " + rule.name


def _of_tensorflow(plan: Plan, node: Any, table: Table, taken: set[Any]) -> Found:
    if not may_be_tensorflow(plan, node):
        return
    values = plan.evaluator.values(plan.module, node)
    names = [value[1] for value in values if value[0] == "tf"]
    if len(values) == 1 and names:
        yield from _tensorflow_use(plan, node, names[0], table, taken)
    elif values != {("other",)} or first_word(node) in _TENSORFLOW:
        _leave_unsure(plan, node, table, sorted(names))


def may_be_tensorflow(plan: Plan, node: Any) -> bool:
    """Whether a Name or Attribute may be a name of TensorFlow: else it need not be followed."""
    return begins_with_tensorflow(plan, node) or plan.program.may_hold(plan.module.path, node)


def begins_with_tensorflow(plan: Plan, node: Any) -> bool:
    """Whether a Name or Attribute begins with an import of TensorFlow, or with what none binds."""
    first = first_word(node)
    bindings = plan.module.scope(node)[first] if first else ()
    return first in _TENSORFLOW or not bindings or _is_imported_here(plan, bindings)


def _tensorflow_use(plan: Plan, node: Any, dotted: str, table: Table, taken: set[Any]) -> Found:
    parent = plan.module.parent(node)
    if ("tf", dotted) in table:
        _take(node, taken)
        yield "tf", dotted, node, table["tf", dotted]
    elif dotted.startswith("contrib.") and table.of_contrib(dotted) in table and node not in taken:
        _take(node, taken)
        if not _is_inner(plan, node, table):
            yield "tf", dotted, node, table[table.of_contrib(dotted)]
    elif dotted == "contrib" and CONTRIB in table:
        if type(node) is ast.Attribute and type(parent) is not ast.Attribute:
            yield "tf", dotted, node, table[CONTRIB]


def _take(node: Any, taken: set[Any]) -> None:
    """Notes that a dotted name, and what it begins with, is dealt with."""
    while type(node) is ast.Attribute:
        taken.add(node)
        node = node.value


def _leave_unsure(plan: Plan, node: Any, table: Table, names: list[str]) -> None:
    """Notes what is a legacy name of TensorFlow only sometimes, or perhaps."""
    parent = plan.module.parent(node)
    is_called = type(parent) is ast.Call and parent.func is node
    for dotted in names:
        rule = table.get(("tf", dotted))
        if rule is not None and (is_called or rule.name == "gone-names"):
            Use(plan, rule.name, "tf", dotted, node).leave(
                "it is tf.%s, or something else" % dotted,
                "call each of them under a name of its own",
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
    if ("unknown",) not in plan.evaluator.values(plan.module, first_name(node)):
        plan.other(node, dotted, "%s is not TensorFlow here" % first_word(node))
        return
    Use(plan, table[key].name, "tf", dotted, node).leave(
        "it cannot be told whether %s is TensorFlow" % first_word(node),
        "import tensorflow as tf, in this file",
    )


def _is_inner(plan: Plan, node: Any, table: Table) -> bool:
    """Whether a longer name around it is a use of its own."""
    parent = plan.module.parent(node)
    while type(parent) is ast.Attribute:
        if ("tf", plan.evaluator.tensorflow_name(plan.module, parent)) in table:
            return True
        parent = plan.module.parent(parent)
    return False


def _member_use(plan: Plan, node: ast.Attribute, kinds: set[str], table: Table) -> Found:
    if is_call_of_others(plan.module.parent(node), node):
        return plan.other(node, node.attr, "no strategy's takes what it is given")
    values = plan.evaluator.values(plan.module, node.value)
    known = kinds_of(plan, values, kinds, node.attr)
    if not known:
        return leave_unresolved(plan, node, node.value, node.attr, values, kinds, table)
    for kind in sorted(known):
        rule = table[kind, node.attr]
        if len(values) == 1:
            yield kind, node.attr, node, rule
        elif kind != "optimizer" or plan.program.scales(plan.module.path):
            Use(plan, rule.name, kind, node.attr, node).leave(
                "%s is %s in some of the calls found, not in all"
                % (plan.module.code(node.value), tensorflow_names.DESCRIPTIONS[kind]),
                "a name of its own for each, or change this call by hand",
            )
        else:
            plan.other(node, node.attr, "no contrib strategy divided its loss")
    return None


def kinds_of(plan: Plan, values: Values, kinds: set[str], name: str) -> set[str]:
    """The kinds, of some, that an object with these values may be."""
    known = {value[1] for value in values if value[0] == "is"} & kinds
    if "strategy" in kinds and any(members.inherits(plan.evaluator, each, name) for each in values):
        known.add("strategy")
    return known


def leave_unresolved(
    plan: Plan, node: Any, owner: Any, name: str, values: Values, kinds: set[str], table: Table
) -> None:
    """Notes a name that only strategies have, on something that cannot be told."""
    if any(_is_strategy_class(plan, value, name) for value in values):
        return leave_member(plan, node, table["strategy", name], name, "a member of the class")
    if values and ("unknown",) not in values:
        return plan.other(node, name, "it belongs to something else")
    if "strategy" not in kinds:
        return plan.other(node, name, "nothing that has it reaches this place")
    if type(getattr(node, "ctx", None)) in (ast.Store, ast.Del):
        return plan.other(node, name, "it is assigned to")
    if not (_is_of_strategies(plan, name) or _is_told(plan, node, owner, name)):
        return plan.other(node, name, "many objects have such a name, and this is not called so")
    rule = table["strategy", name]
    Use(plan, rule.name, "strategy", name, node).leave(
        "it cannot be told whether %s is a strategy" % plan.module.code(owner),
        "if it is: %s; # tpudist: strategy on the line that makes it settles it"
        % new_name(rule, name),
    )
    return None


def _is_strategy_class(plan: Plan, value: tuple[Any, ...], name: str) -> bool:
    """Whether a value is a class of strategies, which has a member from TensorFlow's."""
    if value[0] == "class":
        return members.inherits(plan.evaluator, ("object", *value[1:]), name)
    return value[0] == "tf" and tensorflow_names.is_strategy_class(value[1])


def leave_member(
    plan: Plan, node: Any, rule: Rule, name: str, seen: str, kind: str = "strategy"
) -> None:
    """Leaves a member where it is no attribute of a strategy, and says its new name."""
    Use(plan, rule.name, kind, name, node).leave(seen, new_name(rule, name, kind))


def _is_of_strategies(plan: Plan, name: str) -> bool:
    """Whether a member has a name that hardly anything else has, where there are strategies.

    What an import means may not be known, so that one file's are every file's.
    """
    return name not in OF_OTHERS and (name.count("_") > 1 or plan.program.names_strategies)


def _is_told(plan: Plan, node: Any, owner: Any, name: str) -> bool:
    """Whether a name on something unknown is one that a strategy has, and hardly anything else."""
    receiver = last_word(owner)
    if name in COMMON:
        told = era_names.is_called_like_a_strategy(receiver)
    else:
        told = era_names.is_of_a_strategy(name, receiver)
    return told or _aggregates(plan, node)


def _aggregates(plan: Plan, node: Any) -> bool:
    """Whether a call is given a VariableAggregation or ReduceOp."""
    call = plan.module.parent(node)
    return type(call) is ast.Call and any(
        dotted.startswith(_AGGREGATIONS)
        for argument in plan.module.arguments(call)
        for dotted in plan.evaluator.tensorflow_names(plan.module, argument.value)
    )
