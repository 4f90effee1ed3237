"""Finding the legacy uses of a file: names whose owner is resolved, and what cannot be told."""

import functools

import libcst as cst

from tpudist import surfaces
from tpudist.legacy import evidence
from tpudist.migrate import members, syntax_trees, tensorflow_names
from tpudist.migrate.module import dotted_name, last_word
from tpudist.migrate.use import STEPS, Use

#: Members whose names many other objects have: told only of what is called like a strategy.
_COMMON = (
    "run",
    "reduce",
    "update",
    "map",
    "initialize",
    "finalize",
    "broadcast",
    "group",
    "configure",
)


@functools.lru_cache(maxsize=None)
def _names_of(keys):
    found = {}
    for kind, name in keys:
        if kind != "tf":
            found.setdefault(name, set()).add(kind)
    return found, {name.rpartition(".")[2] for kind, name in keys if kind == "tf"}


def uses(plan, table):
    """The uses that a table of rules is asked about; what cannot be told is left.

    Args:
      plan: the `Plan`.
      table: {(kind, name): Rule}.

    Yields:
      (kind, name, node, Rule) of each use.
    """
    module = plan.module
    owners, last = _names_of(frozenset(table))
    skipped = {id(inner) for node in module.nodes.imports for inner in syntax_trees.below(node)}
    taken = set()
    for node in module.nodes.attributes:
        if id(node) in skipped:
            continue
        name = node.attr.value
        if name in last or ("tf", "contrib.*") in table:
            yield from _tensorflow_use(plan, node, table, taken)
        if name in owners:
            yield from _member_use(plan, node, owners[name], table)
    for node in module.nodes.names:
        if (
            id(node) not in skipped
            and isinstance(module.parent(node), cst.Call)
            and (module.parent(node).func is node)
        ):
            yield from _tensorflow_use(plan, node, table, taken)


def _tensorflow_use(plan, node, table, taken):
    dotted = plan.evaluator.tensorflow_name(plan.module, node)
    if dotted is None:
        _leave_unsure(plan, node, table)
    elif ("tf", dotted) in table:
        _take(node, taken)
        yield "tf", dotted, node, table["tf", dotted]
    elif dotted.startswith("contrib.") and ("tf", "contrib.*") in table and node not in taken:
        _take(node, taken)
        if not _is_inner(plan, node, table):
            yield "tf", dotted, node, table["tf", "contrib.*"]


def _take(node, taken):
    """Notes that a dotted name, and what it begins with, is dealt with."""
    while isinstance(node, cst.Attribute):
        taken.add(node)
        node = node.value


def _leave_unsure(plan, node, table):
    """Notes a call of what is a legacy name of TensorFlow only sometimes."""
    parent = plan.module.parent(node)
    if isinstance(parent, cst.Call) and parent.func is node:
        for dotted in sorted(plan.evaluator.tensorflow_names(plan.module, node)):
            if ("tf", dotted) in table:
                rule = table["tf", dotted]
                Use(plan, rule.name, "tf", dotted, node).leave(
                    "it is tf.%s, or something else" % dotted,
                    "call each of them under a name of its own",
                )


def _is_inner(plan, node, table):
    """Whether a longer name around it is a use of its own."""
    parent = plan.module.parent(node)
    while isinstance(parent, cst.Attribute):
        if ("tf", plan.evaluator.tensorflow_name(plan.module, parent)) in table:
            return True
        parent = plan.module.parent(parent)
    return False


def _member_use(plan, node, kinds, table):
    values = plan.evaluator.values(plan.module, node.value)
    known = {value[1] for value in values if value[0] == "is"} & kinds
    known |= {
        "strategy"
        for value in values
        if value[0] == "object"
        and "strategy" in kinds
        and members.inherits(plan.evaluator, value, node.attr.value)
    }
    if not known:
        yield from _unresolved(plan, node, values, kinds, table)
        return
    for kind in known:
        rule = table[kind, node.attr.value]
        if len(values) == 1:
            yield kind, node.attr.value, node, rule
        else:
            Use(plan, rule.name, kind, node.attr.value, node).leave(
                "%s is not a strategy in every call found" % plan.module.code(node.value),
                "make it one, or change this call by hand",
            )


def _unresolved(plan, node, values, kinds, table):
    """Notes a name that only strategies have, on something that cannot be told."""
    name = node.attr.value
    told = values and ("unknown",) not in values
    if (
        told
        or "strategy" not in kinds
        or isinstance(plan.module.parent(node), (cst.AssignTarget, cst.AugAssign, cst.Del))
    ):
        return
    rule = table["strategy", name]
    if not evidence.eras_of_member(name, last_word(node.value)):
        return
    if name in _COMMON and not evidence.eras_of_member("unwrap", last_word(node.value)):
        return
    Use(plan, rule.name, "strategy", name, node).leave(
        "it cannot be told whether %s is a strategy" % plan.module.code(node.value),
        "if it is: %s"
        % (
            surfaces.MEMBERS[STEPS[rule.step]].get(("strategy", name))
            or "see --list-rules, " + rule.name
        ),
    )
    yield from ()


def dotted_names(plan):
    """The dotted names below ``tf`` of the strategies and resolvers that a file names."""
    for node in plan.module.nodes.attributes:
        if node.attr.value.endswith(("Strategy", "Resolver")):
            dotted = plan.evaluator.tensorflow_name(plan.module, node)
            if dotted:
                yield dotted
    for node in plan.module.nodes.imports:
        if (
            isinstance(node, cst.ImportFrom)
            and node.module
            and not isinstance(node.names, cst.ImportStar)
        ):
            for alias in node.names:
                below = tensorflow_names.below_tensorflow(
                    dotted_name(node.module) + "." + dotted_name(alias.name)
                )
                if below:
                    yield below
