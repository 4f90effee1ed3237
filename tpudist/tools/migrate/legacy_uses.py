"""Finding the legacy uses of a file: names whose owner is resolved, and what cannot be told.

Each name of the table that stands in a file has one outcome: it is a rule's, it
is left because it cannot be told what it belongs to, or it is something else's
for certain (`Plan.other`).
"""

import libcst as cst

from tpudist import surfaces
from tpudist.surfaces.eras import names as era_names
from tpudist.tools.migrate import contrib_words, keras_calls
from tpudist.tools.migrate.common_members import COMMON, OF_OTHERS, is_call_of_others
from tpudist.tools.migrate.resolution import (
    imported_values,
    members,
    syntax_trees,
    tensorflow_names,
)
from tpudist.tools.migrate.resolution.import_origins import first_name, first_word
from tpudist.tools.migrate.resolution.module import dotted_name, last_word
from tpudist.tools.migrate.use import STEPS, Use

#: What the rule is asked about whose names are in no list of its own.
CARRIED_ON = "contrib.+"
_OTHER = ("other",)
_TENSORFLOW = ("tf", "tensorflow")  # what it is called
_AGGREGATIONS = ("VariableAggregation.", "distribute.ReduceOp.")
_AGGREGATING = ("VariableAggregation", "ReduceOp")  # a word of them


class Table(dict):
    """{(kind, name): Rule} of some rules, the first one of those that ask for a name.

    Attributes:
      owners: {member: the kinds that have it}.
      last: the last words of names below ``tf``.
    """

    def __init__(self, every):
        super().__init__()
        for rule in every:
            for key in rule.uses:
                self.setdefault(key, rule)
        self.owners = {}
        for kind, name in self:
            if kind not in ("tf", "any", "call"):
                self.owners.setdefault(name, set()).add(kind)
        self.last = {name.rpartition(".")[2] for kind, name in self if kind == "tf"}


def uses(plan, table):
    """The uses that a table of rules is asked about; what cannot be told is left.

    Args:
      plan: the `Plan`.
      table: a `Table`.

    Yields:
      (kind, name, node, Rule) of each use.
    """
    module = plan.module
    owners, last = table.owners, table.last
    every = ("tf", "contrib.*") in table or ("tf", CARRIED_ON) in table
    skipped = {id(inner) for node in module.nodes.imports for inner in syntax_trees.below(node)}
    words, roots = (contrib_words.every(), contrib_words.roots(module)) if every else ((), ())
    taken = set()
    for node in module.nodes.attributes:
        name = node.attr.value
        if id(node) in skipped:
            continue
        if ("any", name) in table:
            yield from keras_calls.of_member(plan, node, table["any", name])
        if plan.words is not None and not _may_be_tensorflow(plan, node):
            continue
        if name in last or name in words or first_word(node) in roots:
            dotted = _dotted(plan, node, table)
            if dotted is not None:
                yield from _tensorflow_use(plan, node, dotted, table, taken)
        if name in owners and plan.words is None:
            yield from _member_use(plan, node, owners[name], table)
    for node in _bare_names(plan):
        if id(node) in skipped:
            continue
        if plan.words is None or _may_be_tensorflow(plan, node):
            dotted = _dotted(plan, node, table)
            if dotted is not None:
                yield from _tensorflow_use(plan, node, dotted, table, taken)
    yield from keras_calls.uses(plan, table)
    _leave_definitions(plan, owners, table)


def _bare_names(plan):
    """The Names that may be of TensorFlow: those called; all, where no import says which are."""
    module = plan.module
    for call in module.nodes.calls:
        if type(call.func) is cst.Name:
            yield call.func
    if plan.words is not None or not (
        module.path in plan.evaluator.codebase.borrowed or imported_values.has_star(module)
    ):
        return
    for node in module.nodes.names:
        parent = module.parent(node)
        if type(parent) in (cst.Attribute, cst.Arg, cst.Assign) and parent.value is node:
            yield node


def _leave_definitions(plan, owners, table):
    """Leaves what a program's own strategy class defines: TensorFlow calls the new name."""
    if plan.words is not None or not plan.survey.makes_strategies:
        return
    for node in plan.module.nodes.definitions:
        name = node.name.value if type(node) is cst.FunctionDef else ""
        if "strategy" not in owners.get(name, ()) or name in COMMON:
            continue
        owner = plan.module.parent(plan.module.parent(node))
        if type(owner) is cst.ClassDef and members.is_strategy(plan.evaluator, plan.module, owner):
            rule = table["strategy", name]
            leave_member(plan, node.name, rule, name, "a strategy of the program's own has it")


def _dotted(plan, node, table):
    """The dotted name below ``tf`` that a node is; None, and what cannot be told is noted."""
    if not plan.survey.carriers.may_hold(plan.module.path, node):
        return None
    values = plan.evaluator.values(plan.module, node)
    if len(values) == 1:
        (value,) = values
        if value[0] == "tf":
            return value[1]
        if value == _OTHER and first_word(node) not in _TENSORFLOW:
            return None
    _leave_unsure(plan, node, table, values)
    return None


def _tensorflow_use(plan, node, dotted, table, taken):
    if ("tf", dotted) in table:
        _take(node, taken)
        yield "tf", dotted, node, table["tf", dotted]
    elif dotted.startswith("contrib.") and _every(dotted, table) in table and node not in taken:
        _take(node, taken)
        if not _is_inner(plan, node, table):
            yield "tf", dotted, node, table[_every(dotted, table)]
    elif dotted == "contrib" and ("tf", "contrib.*") in table and _is_whole(plan, node):
        yield "tf", dotted, node, table["tf", "contrib.*"]


def _is_whole(plan, node):
    """Whether nothing is asked of a name: it is assigned, passed on or returned."""
    return type(node) is cst.Attribute and type(plan.module.parent(node)) is not cst.Attribute


def _every(dotted, table):
    """The key of all names of contrib that have a successor, or of those that have none."""
    carried = ("tf", CARRIED_ON)
    return carried if carried in table and surfaces.successor(dotted) else ("tf", "contrib.*")


def _may_be_tensorflow(plan, node):
    """Whether one of the words of ``a.b.c`` is one that the file keeps TensorFlow's names under."""
    if plan.words is None:
        return True
    while isinstance(node, (cst.Attribute, cst.Call, cst.Subscript)):
        if isinstance(node, cst.Attribute) and node.attr.value in plan.words:
            return True
        is_call = isinstance(node, cst.Call)
        if is_call and node.args and last_word(node.func) == "getattr":
            node = node.args[0].value
        else:
            node = node.func if is_call else node.value
    return isinstance(node, cst.Name) and node.value in plan.words


def _take(node, taken):
    """Notes that a dotted name, and what it begins with, is dealt with."""
    while isinstance(node, cst.Attribute):
        taken.add(node)
        node = node.value


def _leave_unsure(plan, node, table, values):
    """Notes what is a legacy name of TensorFlow only sometimes, or perhaps."""
    names = sorted(value[1] for value in values if value[0] == "tf")
    parent = plan.module.parent(node) if names else None
    is_called = type(parent) is cst.Call and parent.func is node
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
    key = _key(plan, node, dotted, table)
    if key is None:
        return
    if ("unknown",) not in plan.evaluator.values(plan.module, first_name(node)):
        return plan.other(node, dotted, "%s is not TensorFlow here" % first_word(node))
    Use(plan, table[key].name, "tf", dotted, node).leave(
        "it cannot be told whether %s is TensorFlow" % first_word(node),
        "import tensorflow as tf, in this file",
    )


def _key(plan, node, dotted, table):
    """The key of a name below ``tf`` in the table, None if it has none."""
    if ("tf", dotted) in table:
        return "tf", dotted
    is_whole = not isinstance(plan.module.parent(node), cst.Attribute)
    if not dotted.startswith("contrib.") or not is_whole:
        return None
    every = _every(dotted, table)
    return every if every in table else None


def _is_inner(plan, node, table):
    """Whether a longer name around it is a use of its own."""
    parent = plan.module.parent(node)
    while isinstance(parent, cst.Attribute):
        if ("tf", plan.evaluator.tensorflow_name(plan.module, parent)) in table:
            return True
        parent = plan.module.parent(parent)
    return False


def _member_use(plan, node, kinds, table):
    if is_of_nothing(plan, node, node.value, node.attr.value, kinds):
        return
    if is_call_of_others(plan.module.parent(node), node):
        return plan.other(node, node.attr.value, "no strategy's takes what it is given")
    values = plan.evaluator.values(plan.module, node.value)
    known = kinds_of(plan, values, kinds, node.attr.value)
    if not known:
        leave_unresolved(plan, node, node.value, node.attr.value, values, kinds, table)
        return
    for kind in sorted(known):
        rule = table[kind, node.attr.value]
        if len(values) == 1:
            yield kind, node.attr.value, node, rule
        elif kind != "optimizer" or plan.survey.scales(plan.module.path):
            Use(plan, rule.name, kind, node.attr.value, node).leave(
                "%s is %s in some of the calls found, not in all"
                % (plan.module.code(node.value), tensorflow_names.DESCRIPTIONS[kind]),
                "a name of its own for each, or change this call by hand",
            )
        else:
            plan.other(node, node.attr.value, "no contrib strategy divided its loss")


def kinds_of(plan, values, kinds, name):
    """The kinds, of some, that an object with these values may be."""
    known = {value[1] for value in values if value[0] == "is"} & kinds
    if "strategy" in kinds and any(
        value[0] == "object" and members.inherits(plan.evaluator, value, name) for value in values
    ):
        known.add("strategy")
    return known


def leave_unresolved(plan, node, owner, name, values, kinds, table):
    """Notes a name that only strategies have, on something that cannot be told."""
    if any(_is_strategy_class(plan, value, name) for value in values):
        return leave_member(plan, node, table["strategy", name], name, "a member of the class")
    if values and ("unknown",) not in values:
        return plan.other(node, name, "it belongs to something else")
    if "strategy" not in kinds:
        return plan.other(node, name, "nothing that has it reaches this place")
    if isinstance(plan.module.parent(node), (cst.AssignTarget, cst.AugAssign, cst.Del)):
        return plan.other(node, name, "it is assigned to")
    if not (_is_of_strategies(plan, name) or _is_told(plan, node, owner, name)):
        return plan.other(node, name, "many objects have such a name, and this is not called so")
    rule = table["strategy", name]
    Use(plan, rule.name, "strategy", name, node).leave(
        "it cannot be told whether %s is a strategy" % plan.module.code(owner),
        "if it is: %s; # tpudist: strategy on the line that makes it settles it"
        % (
            surfaces.MEMBERS[STEPS[rule.step]].get(("strategy", name))
            or "see --list-rules, " + rule.name
        ),
    )


def is_of_nothing(plan, node, owner, name, kinds):
    """Whether nothing is to be told of a name, whatever its owner: that need not be followed."""
    if plan.located:
        return False
    if plan.survey.kinds.isdisjoint(kinds):
        return True
    if not kinds <= tensorflow_names.OF_STRATEGIES or plan.survey.makes_strategies:
        return False
    return "strategy" not in kinds or not (
        _is_of_strategies(plan, name) or _is_told(plan, node, owner, name)
    )


def _is_strategy_class(plan, value, name):
    """Whether a value is a class of strategies, which has a member from TensorFlow's."""
    if value[0] == "class":
        return members.inherits(plan.evaluator, ("object",) + value[1:], name)
    return value[0] == "tf" and tensorflow_names.is_strategy_class(value[1])


def leave_member(plan, node, rule, name, seen, kind="strategy"):
    """Leaves a member where it is no attribute of a strategy, and says its new name."""
    new = surfaces.MEMBERS[STEPS[rule.step]].get((kind, name))
    Use(plan, rule.name, kind, name, node).leave(seen, new or "see --list-rules, " + rule.name)


def _is_of_strategies(plan, name):
    """Whether a member has a name that hardly anything else has, where there are strategies.

    What an import means may not be known, so that one file's are every file's.
    """
    return name not in OF_OTHERS and (name.count("_") > 1 or plan.survey.names_strategies)


def _is_told(plan, node, owner, name):
    """Whether a name on something unknown is one that a strategy has, and hardly anything else."""
    receiver = last_word(owner)
    if name in COMMON:
        told = era_names.is_called_like_a_strategy(receiver)
    else:
        told = era_names.is_of_a_strategy(name, receiver)
    return told or _aggregates(plan, node)


def _aggregates(plan, node):
    """Whether a call is given a VariableAggregation or ReduceOp."""
    call, codebase = plan.module.parent(node), plan.evaluator.codebase
    if not any(map(codebase.mentioning, _AGGREGATING)) and not plan.survey.carriers.unknown:
        return False
    return isinstance(call, cst.Call) and any(
        dotted.startswith(_AGGREGATIONS)
        for argument in call.args
        for dotted in plan.evaluator.tensorflow_names(plan.module, argument.value)
    )
