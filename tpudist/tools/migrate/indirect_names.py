"""Reports legacy names that a program may reach indirectly; they are never rewritten.

By a string: ``getattr(tf.contrib, "slim")``, ``mock.patch``, ``exec``, a type in quotes, those of
a docstring; by a name that only the run knows; by TensorFlow itself, handed on as a value.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Iterator, Tuple

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.surfaces.eras import names as era_names
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate import legacy_uses
from tpudist.tools.migrate.legacy_uses import CONTRIB, Table
from tpudist.tools.migrate.resolution import evaluate
from tpudist.tools.migrate.resolution.module import Module, first_name
from tpudist.tools.migrate.use import STEPS, Plan

if TYPE_CHECKING:
    #: (where it stands, what may be reached there).
    Found = Iterator[Tuple[Any, str]]

NAME = "indirect-names"
_ASKING = ("getattr", "hasattr", "setattr", "delattr", "object")  # mock.patch.object
_IMPORTING = ("__import__", *evaluate.IMPORTING)
_RUNNING = ("exec", "eval", "compile", "timeit", "Timer")
#: A string that is one name of TensorFlow; a name of it in code; a module that is put together.
_WHOLE = re.compile(r"(?:[\w.]*\.)?(tf|tensorflow)\.([\w.]*\w)\Z")
_INSIDE = re.compile(r"(?<![\w.])(tf|tensorflow)\.([\w.]*\w)")
_PART = re.compile(r"""tensorflow\.(?:(?:contrib|python)\b[\w.]*)?["'%{]""")
_FIRST = frozenset(name.rpartition(".")[2] for name in surfaces.FIRST_GENERATION)
_DTYPES = re.compile("type|float|int", re.IGNORECASE)  # tf.float32: every release has those


def leave(plan: Plan, table: Table) -> None:
    """Reports each such name, unless a rule has a finding in that place."""
    reported = {each[:2] for each in (*plan.left, *plan.rewritten)}
    for of in (_asked, _in_strings, _handed_on):
        for node, what in of(plan, table):
            place = plan.module.place(node)
            if place not in reported:
                reported.add(place)
                seen = plan.module.code(node).split("\n")[0]
                why = "%s may be reached here" % what
                plan.leave(node, NAME, seen, "write it as code, which is rewritten or told", why)


def _asked(plan: Plan, table: Table) -> Found:
    """Names that ``getattr(x, "name")``, ``vars(x)["name"]`` or ``getattr(tf, x)`` ask for."""
    for node, owner, name in _members(plan.module):
        values = plan.evaluator.values(plan.module, owner)
        is_v1 = plan.evaluator.is_v1(plan.module, owner)
        if name is None:
            # A computed name may be a legacy one.
            is_other = is_v1 or _DTYPES.search(plan.module.code(node)) is not None
            whole = {("tf", "contrib"), ("is", "strategy")}
            whole |= set() if is_other else {("tf", ""), ("tf", "keras.backend")}
            if any(value[:2] in whole for value in values):
                yield node, "any name of " + plan.module.code(owner)
        elif name in table.owners:
            kinds = legacy_uses.kinds_of(plan, values, name, table)
            is_one = "strategy" in table.owners[name]
            if kinds or is_one and legacy_uses.may_be_a_strategys(plan, owner, name, values):
                yield node, "a strategy's " + name
        elif last_word(getattr(plan.module.parent(node), "func", None)) != "hasattr":
            for dotted in sorted(value[1] for value in values if value[0] == "tf"):
                full = (dotted + "." + name).lstrip(".")
                if _is_legacy(plan, table, full, is_v1):
                    yield node, "tf." + full


def _members(module: Module) -> Iterator[tuple[Any, Any, str | None]]:
    """(where it stands, what is asked, its text) of each name; None if only the run knows it."""
    for function in _ASKING:
        for call in module.calls_by_name.get(function, ()):
            is_one = len(call.args) == 2 or len(call.args) > 2 and function == "object"
            if is_one and not any(type(each) is ast.Starred for each in call.args):
                name = walks.text(call.args[1])
                if name is not None or function == "getattr":
                    yield call if name is None else call.args[1], call.args[0], name
    for node in module.of(ast.Subscript):
        owner, index = walks.owner_of_members(node.value), walks.index_of(node)
        if owner is not None and walks.text(index):
            yield index, owner, walks.text(index)


def _in_strings(plan: Plan, table: Table) -> Found:
    """Names in strings that are names or code."""
    module = plan.module
    types = set(module.annotations)
    is_v1 = plan.evaluator.has_v1(module)
    for node in module.of(ast.Constant, ast.BinOp, ast.JoinedStr, ast.Call):
        text, call = evaluate.literal(node), module.parent(node)
        is_first = type(call) is ast.Call and node in call.args[:1]
        function = last_word(call.func) if is_first else ""
        if text is None and function in _IMPORTING and _PART.search(module.code(node)):
            yield node, "any module of TensorFlow"
        if not text or type(call) is ast.JoinedStr:
            continue
        whole = _WHOLE.match(text)
        names = []
        if whole is not None and node not in types:
            is_named = function in ("patch", *_IMPORTING, *_RUNNING) or not text.startswith("tf.")
            names = [whole.groups()] if is_named else []
        elif node in types or function in _RUNNING or ">>> " in text or "import tensorflow" in text:
            names = _INSIDE.findall(text)
        for first, name in names:
            if _is_legacy(plan, table, name, first == "tf" and is_v1):
                yield node, "tf." + name


def _handed_on(plan: Plan, table: Table) -> Found:
    """Names of TensorFlow that come by a variable: gone ones, and those of TensorFlow 1."""
    module = plan.module
    for node in module.of(ast.Attribute) if module.path not in plan.program.mixed else ():
        is_asked = node.attr in _FIRST or node.attr in table.words
        if not is_asked or "compat.v1" in module.code(node):
            continue
        first = first_name(node)
        bindings = module.scope(first)[first.id] if type(first) is ast.Name else ()
        if any(each.is_import for each in bindings):
            continue
        values = plan.evaluator.values(module, node)
        names = {each[1] for each in values if each[0] == "tf"}
        if ("unknown",) not in values:  # else rules report the others
            names = {name for name in names if era_names.is_first_generation(name)}
        is_v1 = plan.evaluator.is_v1(module, node)
        yield from ((node, "tf." + n) for n in sorted(names) if _is_legacy(plan, table, n, is_v1))


def _is_legacy(plan: Plan, table: Table, full: str, is_v1: bool = False) -> bool:
    """Whether the rules that run ask for a dotted name below ``tf``, or its module."""
    plain = era_names.without_compat(full)
    is_v1 = is_v1 or plain != full
    if plain.partition(".")[0] == "contrib":
        return CONTRIB in table
    key = ("tf", plain)
    gone, rule = leads.gone_today(plain), table.later.get(key) or table.get(key)
    if gone is not None and ("tf", gone) in table:
        return not plan.has(gone, is_v1)
    if rule is not None and plain in {**surfaces.NAMES[STEPS[rule.step]], **surfaces.RENAMED_TODAY}:
        return True
    return era_names.is_first_generation(full) and "2.0" in plan.steps and not is_v1
