"""Legacy names that a program asks for by a string, or by one that only the run knows."""

import libcst as cst

from tpudist import surfaces
from tpudist.surfaces.eras import names as era_names
from tpudist.tools.migrate.common_members import COMMON
from tpudist.tools.migrate.legacy_uses import (
    is_of_nothing,
    kinds_of,
    leave_member,
    leave_unresolved,
)
from tpudist.tools.migrate.resolution import builtin_calls, import_origins
from tpudist.tools.migrate.resolution.module import last_word
from tpudist.tools.migrate.rules import gone_names
from tpudist.tools.migrate.use import STEPS, Use

_IN_STRING = "a member that is named in a string"
_BY_NAME = ("getattr", "hasattr", "setattr", "delattr")


def leave(plan, table):
    """Leaves ``getattr(x, "name")`` and its kin, and legacy names in annotations of strings.

    Args:
      plan: the `Plan`.
      table: a `Table`.
    """
    module = plan.module
    owners = table.owners
    for node, owner, name in asked(module):
        if name is None:
            _leave_unseen(plan, node, owner, table)
        elif name in owners:
            if is_of_nothing(plan, node, owner, name, owners[name]):
                continue
            values = plan.evaluator.values(module, owner)
            known = kinds_of(plan, values, owners[name], name)
            for kind in sorted(known):
                leave_member(plan, node, table[kind, name], name, _IN_STRING, kind)
            if not known:
                leave_unresolved(plan, node, owner, name, values, owners[name], table)
        else:
            _leave_name(plan, node, owner, name, table)
    for node, dotted in builtin_calls.members_asked_for(module):
        name = dotted.rpartition(".")[2]
        rule = table.get(("strategy", name))
        if rule is not None and name not in COMMON and era_names.is_of_a_strategy(name, "strategy"):
            leave_member(plan, node, rule, name, _IN_STRING)
    _leave_annotations(plan, table)


def asked(module):
    """(node of the name, what is asked, the name) of ``getattr(x, "name")``, ``vars(x)["name"]``.

    The name is None where it is no literal.

    Args:
      module: a `Module`.
    """
    for function in _BY_NAME:
        for call in module.nodes.calls_by_name.get(function, ()):
            named = builtin_calls.named_member(call)
            if named is not None:
                yield (call.args[1].value, *named)
            elif builtin_calls.asks_for_a_member(call):
                yield call, call.args[0].value, None
    for call in module.nodes.calls_by_name.get("object", ()):  # mock.patch's
        named = builtin_calls.named_member(call)
        if named is not None:
            yield (call.args[1].value, *named)
    for call in module.nodes.calls_by_name.get("get", ()):
        is_asked = type(call.func) is cst.Attribute and len(call.args) == 1
        owner = builtin_calls.owner_of_members(call.func.value) if is_asked else None
        if owner is not None and type(call.args[0].value) is cst.SimpleString:
            yield call.args[0].value, owner, str(call.args[0].value.evaluated_value)
    for node in module.nodes.subscripts:
        owner, index = builtin_calls.owner_of_members(node.value), builtin_calls.index_of(node)
        if owner is not None and index is not None:
            is_text = type(index) is cst.SimpleString
            yield index, owner, str(index.evaluated_value) if is_text else None


def _leave_unseen(plan, node, owner, table):
    """Leaves ``getattr(strategy, name)``: which member it is cannot be seen."""
    if not plan.survey.makes_strategies and not _may_be_tensorflow(plan, owner):
        return
    for value in plan.evaluator.values(plan.module, owner):
        rule = None
        if value == ("is", "strategy") and plan.steps[-1] == plan.target:
            rule = next((rule for (kind, _), rule in table.items() if kind == "strategy"), None)
            seen = "member of a strategy"
        elif value[0] == "tf" and _may_be_gone(plan, value[1]):
            rule = table.get(("tf", "contrib.*"))
            seen = "name of " + ".".join(filter(None, ("tf", value[1])))
        if rule is not None:
            Use(plan, rule.name, "", "", node).leave(
                "it cannot be seen which %s it is" % seen, "the names that it takes, as code"
            )


def _may_be_tensorflow(plan, owner):
    return plan.survey.carriers.may_hold(plan.module.path, owner)


def _may_be_gone(plan, dotted):
    """Whether a name that is asked of one below ``tf`` may be of contrib."""
    is_v1 = not dotted and plan.survey.wants_v1(plan.module.path)
    return is_v1 or dotted.partition(".")[0] == "contrib"


def _leave_name(plan, node, owner, name, table):
    """Leaves ``getattr(tf.contrib, "name")``, of which nothing is asked that a rule rewrites."""
    call = plan.module.parent(plan.module.parent(node))
    asks = last_word(call.func) if type(call) is cst.Call else ""
    if asks in _BY_NAME and (asks != "getattr" or type(plan.module.parent(call)) is cst.Attribute):
        return  # it asks whether there is one, or is a part of a longer name
    if not _may_be_tensorflow(plan, owner):
        return
    for dotted in plan.evaluator.tensorflow_names(plan.module, owner):
        full = (dotted + "." + name).lstrip(".")
        if full.partition(".")[0] == "contrib" and ("tf", "contrib.*") in table:
            Use(plan, table["tf", "contrib.*"].name, "tf", full, node).leave(
                "tf.contrib ended with TensorFlow 1.15", "the name as code, which is rewritten"
            )
        elif plan.module.path in plan.survey.mixed and era_names.is_first_generation(full):
            if asks != "getattr" or len(call.args) == 2:
                _leave_first(plan, node, owner, full, table)
        elif ("tf", full) in table and _is_changed(full, table["tf", full]):
            has_other = asks == "getattr" and len(call.args) > 2
            if has_other or gone_names.is_kept(Use(plan, "", "tf", full, owner)):
                continue
            Use(plan, table["tf", full].name, "tf", full, node).leave(
                "tf.%s in a string" % full, _instead(full)
            )


def _leave_first(plan, node, owner, full, table):
    """Leaves a name of TensorFlow 1 in a string, in a file whose ``tf`` stays that of 2."""
    rule = table.get(("tf", full))
    is_v1 = import_origins.is_v1_name(plan, plan.module, owner)
    if rule is not None and not is_v1 and not _is_asked_first(plan.module, node):
        Use(plan, rule.name, "tf", full, node).leave(
            "tf.%s in a string is in no TensorFlow 2" % full, "tf.compat.v1." + full
        )


def _is_asked_first(module, node):
    """Whether a program asks if there is a name, or catches that there is none."""
    while node is not None:
        node = module.around(node, (cst.If, cst.IfExp, cst.Try))
        if type(node) is cst.Try:
            if node.handlers:
                return True
        elif node is not None and "attr(" in module.code(node.test):
            return True
    return False


def _is_changed(dotted, rule):
    """Whether a name is another one, or none, after the step of a rule that asks for it."""
    return (
        dotted.partition(".")[0] == "contrib"
        or dotted in surfaces.NAMES[STEPS[rule.step]]
        or surfaces.gone_today(dotted) is not None
    )


def _instead(dotted):
    """What to type instead of a name below ``tf`` that today's TensorFlow has not."""
    if dotted in surfaces.NAMES["latest"]:
        return "tf." + surfaces.NAMES["latest"][dotted]
    gone = surfaces.gone_today(dotted)
    return surfaces.instead_of_gone(gone) if gone else "the name as code"


def _leave_annotations(plan, table):
    """Leaves legacy names in types that are strings."""
    for node in plan.module.nodes.annotations:
        for dotted in plan.evaluator.annotated_names(plan.module, node):
            rule = table.get(("tf", dotted)) or table.get(("tf", surfaces.gone_today(dotted) or ""))
            if rule is not None and _is_changed(dotted, rule):
                is_gone = surfaces.gone_today(dotted) is not None
                instead = "the annotation without quotes, or its new name"
                Use(plan, rule.name, "tf", dotted, node).leave(
                    "a name in a string", _instead(dotted) if is_gone else instead
                )
