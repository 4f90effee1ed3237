"""Legacy names that a program reaches where nothing follows them; they are told, never rewritten.

By a string: ``getattr(strategy, "unwrap")``, ``import_module("tensorflow.contrib.slim")``,
``mock.patch("a.tf.contrib.slim.conv2d")``, the code of ``exec``, the examples of docstrings,
types in strings and comments. By a module of TensorFlow that is handed on as a value, of which
an unknown object is asked for a name: ``with made(tf.keras.backend) as K: K.get_session()``.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Iterator

from tpudist import surfaces
from tpudist.surfaces.eras import names as era_names
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.common_members import COMMON, OF_OTHERS
from tpudist.tools.migrate.legacy_uses import (
    CONTRIB,
    begins_with_tensorflow,
    kinds_of,
    leave_member,
    leave_unresolved,
    may_be_tensorflow,
    new_name,
)
from tpudist.tools.migrate.resolution import builtin_calls, import_origins, tensorflow_names
from tpudist.tools.migrate.rules import IMPORTS, Rule, gone_names
from tpudist.tools.migrate.use import STEPS

if TYPE_CHECKING:
    from tpudist.tools.migrate.legacy_uses import Table
    from tpudist.tools.migrate.use import Plan

_BY_NAME = ("getattr", "hasattr", "setattr", "delattr", "object")
_IN_STRING = "a member that is named in a string"
#: What a string is that is one name of TensorFlow; a name of it in code.
_WHOLE = re.compile(r"(?:[\w.]*\.)?(?:tf|tensorflow)\.([\w.]+)\Z")
_INSIDE = re.compile(r"(?<![\w.])(?:tf|tensorflow)\.([\w.]*\w)")
_MEMBER = re.compile(r"\.(\w+)")
_PART = re.compile(r"""tensorflow\.(?:(?:contrib|python)\b[\w.]*)?["'%{]""")
_TYPE = re.compile(r"#\s*type:\s*(?!ignore\b)(.+)$", re.M)
_EXAMPLE = re.compile(r"^\s*(?:>>>|\.\.\.) (.*)$", re.M)
_RUNNING = ("exec", "eval", "compile", "timeit", "Timer")
_DTYPES = re.compile("type|float|int", re.IGNORECASE)  # tf.float32: every release has those
_LAST_OF_1 = {name.rpartition(".")[2] for name in surfaces.FIRST_GENERATION}
#: Modules of whose names many are gone, and which may be asked for any.
_ASKED = ("", "keras.backend")


def leave(plan: Plan, table: Table) -> None:
    """Leaves such names.

    Args:
      plan: the `Plan`.
      table: the `Table` of the rules that run.
    """
    finder = _Finder(plan, table)
    finder.members()
    finder.unseen()
    finder.imported()
    finder.of_tensorflow_1()
    finder.texts()
    if gone_names.KEY in table:
        finder.handed_on()


class _Finder:
    def __init__(self, plan: Plan, table: Table) -> None:
        self._plan, self._table, self._module = plan, table, plan.module
        self._told = {each[:3] for each in plan.left}

    def _leave(
        self, node: Any, rule: str, seen: str, instead: str, line: int | None = None
    ) -> None:
        """Leaves what stands at a node, or some lines below it; once for a place."""
        row, column = self._module.place(node)
        place = (row, column) if line is None else (row + line, 1)
        if (*place, rule) not in self._told and not self._module.marks.ignored(place[0], rule):
            self._told.add((*place, rule))
            self._plan.left.append((*place, rule, seen, instead, False))

    # Members that are asked for by a string.

    def members(self) -> None:
        """Leaves ``getattr(x, "name")``, ``vars(x)["name"]`` and their kin."""
        for node, owner, name in self._asked():
            if name in self._table.owners:
                kinds = self._table.owners[name]
                values = self._plan.evaluator.values(self._module, owner)
                known = kinds_of(self._plan, values, kinds, name)
                for kind in sorted(known):
                    rule = self._table[kind, name]
                    leave_member(self._plan, node, rule, name, _IN_STRING, kind)
                if not known:
                    leave_unresolved(self._plan, node, owner, name, values, kinds, self._table)
            else:
                self._leave_name(node, owner, name)
        for function, index in (
            ("methodcaller", 0),
            ("attrgetter", 0),
            ("object", 1),
            ("patch", 0),
        ):
            for call in self._module.calls_by_name.get(function, ()):
                text = walks.text(call.args[index]) if len(call.args) > index else None
                name = (text or "").rpartition(".")[2]
                if ("strategy", name) in self._table and name not in COMMON:
                    if era_names.is_of_a_strategy(name, "strategy"):
                        rule = self._table["strategy", name]
                        leave_member(self._plan, call.args[index], rule, name, _IN_STRING)

    def _asked(self) -> Iterator[tuple[Any, Any, str]]:
        """(node of the name, what is asked, the name)."""
        for function in _BY_NAME:
            for call in self._module.calls_by_name.get(function, ()):
                named = builtin_calls.named_member(call)
                if named is not None:
                    yield (call.args[1], *named)
        for call in self._module.calls_by_name.get("get", ()):
            owner = getattr(call.func, "value", None)
            name = walks.text(call.args[0]) if call.args else None
            members_of = walks.owner_of_members(owner)
            if members_of is not None and name:
                yield call.args[0], members_of, name
        for node in self._module.of(ast.Subscript):
            owner, index = walks.owner_of_members(node.value), walks.index_of(node)
            name = walks.text(index)
            if owner is not None and name:
                yield index, owner, name

    def _leave_name(self, node: Any, owner: Any, name: str) -> None:
        """Leaves ``getattr(tf.contrib, "name")``, unless the program asks whether it is there."""
        call = self._module.parent(node)
        function = last_word(call.func) if type(call) is ast.Call else ""
        has_default = len(getattr(call, "args", ())) > {"getattr": 2, "get": 1}.get(function, 9)
        if function == "hasattr" or has_default or self._is_asked_before(node):
            return
        for dotted in sorted(self._plan.evaluator.tensorflow_names(self._module, owner)):
            full = (dotted + "." + name).lstrip(".")
            rule = self._rule_of(full, import_origins.is_v1_name(self._plan, self._module, owner))
            if rule is not None:
                seen = "%s: tf.%s in a string" % (self._code(node), full)
                self._leave(node, rule, seen, _instead(full))

    def _is_asked_before(self, node: Any) -> bool:
        """Whether a program asks if there is a name, or catches that there is none."""
        while node is not None:
            node = self._module.around(node, (ast.If, ast.IfExp, ast.Try))
            if type(node) is ast.Try and node.handlers:
                return True
            if type(node) in (ast.If, ast.IfExp) and "attr(" in self._module.code(node.test):
                return True
        return False

    def _rule_of(self, full: str, is_v1: bool = False) -> str | None:
        """The rule of a dotted name below ``tf``; None if it is no legacy name here."""
        plain = era_names.without_compat(full)
        is_v1 = is_v1 or plain != full or self._plan.program.wants_v1(self._module.path)
        if plain.partition(".")[0] == "contrib":
            key = ("tf", plain) if ("tf", plain) in self._table else CONTRIB
            return self._table[key].name if key in self._table else None
        gone = surfaces.gone_today(plain)
        for known in (plain, gone or ""):
            rule = self._table.get(("tf", known))
            if rule is not None and rule.name != "first-generation":
                is_kept = is_v1 and (rule.name == "sessions" or known in surfaces.KEPT_IN_V1)
                is_changed = gone is not None or known in surfaces.NAMES[STEPS[rule.step]]
                if not is_kept and (is_changed or rule.name in ("sessions", "renamed-names")):
                    return rule.name
        is_first = era_names.is_first_generation(full) and "2.0" in self._plan.steps
        return IMPORTS if is_first and not is_v1 else None

    # Members that only the run knows.

    def unseen(self) -> None:
        """Leaves ``getattr(tf, name)`` and ``getattr(strategy, name)``."""
        is_told = False
        for call, owner, name in self._unseen():
            for value in sorted(self._plan.evaluator.values(self._module, owner), key=repr):
                rule, what = self._rule_of_unseen(owner, value, name)
                is_gone = rule is not None and rule.name == "gone-names"
                if rule is not None and not (is_gone and is_told):
                    seen = "%s: it cannot be seen which %s it is" % (self._code(call), what)
                    self._leave(call, rule.name, seen, "the names that it takes, as code")
                is_told = is_told or is_gone  # in most files it is one function that asks

    def _rule_of_unseen(self, owner: Any, value: Any, name: Any) -> tuple[Rule | None, str]:
        """(the rule, what is asked for) of a name that only the run knows; None if none is."""
        if value == ("is", "strategy") and self._plan.steps[-1] == self._plan.target:
            rules = (rule for (kind, _), rule in self._table.items() if kind == "strategy")
            return next(rules, None), "member of a strategy"
        if value[0] != "tf":
            return None, ""
        what = "name of " + ".".join(filter(None, ("tf", value[1])))
        wants_v1 = self._plan.program.wants_v1(self._module.path)
        is_dtype = name is not None and _DTYPES.search(self._module.code(name)) is not None
        is_contrib = value[1].partition(".")[0] == "contrib"
        if is_contrib or not value[1] and wants_v1 and not is_dtype:
            return self._table.get(CONTRIB), what
        is_v1 = wants_v1 or import_origins.is_v1_name(self._plan, self._module, owner)
        if value[1] in _ASKED and not is_v1 and not is_dtype:
            return self._table.get(gone_names.KEY), what
        return None, ""

    def imported(self) -> None:
        """Leaves imports of modules by a name that only the run knows, and what they give."""
        by_name = self._module.calls_by_name
        names = (*builtin_calls.IMPORTING, "__import__")
        calls = [call for each in names for call in by_name.get(each, ())]
        for call in calls:
            if call.args and builtin_calls.text(call.args[0]) is None and CONTRIB in self._table:
                if _PART.search(self._module.code(call.args[0])):
                    seen = "%s: it cannot be told which module is imported" % self._code(call)
                    instead = "an import of each module, where TensorFlow may have it no longer"
                    self._leave(call, self._table[CONTRIB].name, seen, instead)
            elif call.args and type(call.args[0]) is ast.BinOp:
                full = builtin_calls.text(call.args[0]) or ""
                below = tensorflow_names.below_tensorflow(full)
                if below:
                    self._leave_text(call, below, '"%s", imported by a string' % full)

    def of_tensorflow_1(self) -> None:
        """Leaves names of TensorFlow 1 where what they begin with stays TensorFlow 2's."""
        plan, module = self._plan, self._module
        if "2.0" not in plan.steps or module.path in plan.program.mixed:
            return
        is_v1 = plan.program.wants_v1(module.path) or import_origins.is_v1(module)
        if is_v1 and not any(walks.text(each) == "tensorflow" for each in module.of(ast.Constant)):
            return
        by_string = [
            call
            for call in module.calls_by_name.get("getattr", ())
            if len(call.args) == 2 and self._is_by_string(call.args[0])
        ]
        for node in [*module.of(ast.Attribute), *by_string]:
            if type(module.parent(node)) is ast.Attribute or not _may_be_of_1(node):
                continue
            if type(node) is ast.Attribute and not may_be_tensorflow(plan, node):
                continue
            if type(node) is ast.Call and self._is_asked_before(node):
                continue
            full = plan.evaluator.tensorflow_name(module, node) or ""
            if not era_names.is_first_generation(full) or "compat.v1" in self._code(node):
                continue
            is_of_2 = not plan.program.wants_v1(module.path) and not self._is_imported(node)
            if is_of_2 or self._is_by_string(node):
                if not import_origins.is_v1_name(plan, module, node):
                    seen = "%s: it is of TensorFlow 1 alone, and this is TensorFlow 2's"
                    if self._is_by_string(node):
                        seen = "%s: tensorflow, imported by a string, has it in compat.v1"
                    instead = "import tensorflow.compat.v1 as tf"
                    self._leave(node, IMPORTS, seen % self._code(node), instead)

    def _is_imported(self, node: Any) -> bool:
        """Whether an import statement binds what a dotted name begins with."""
        name = import_origins.first_name(node)
        bindings = self._module.scope(name)[name.id] if type(name) is ast.Name else ()
        return any(each.is_import for each in bindings)

    def _is_by_string(self, node: Any) -> bool:
        """Whether a dotted name begins with a module that a string has imported."""
        first = import_origins.first_name(node.args[0] if _is_getattr(node) else node)
        every = [first]
        if type(first) is ast.Name:
            parents = (
                self._module.parent(each.node) for each in self._module.scope(first)[first.id]
            )
            every = [getattr(each, "value", None) for each in parents]
        return any(
            walks.text(inner) == "tensorflow"
            for each in every
            if isinstance(each, ast.AST)
            for inner in ast.walk(each)
        )

    def _code(self, node: Any) -> str:
        return " ".join(self._module.code(node).split())

    def _unseen(self) -> Iterator[tuple[Any, Any, Any]]:
        """(call, what is asked, the name) of each that asks for a name that is no literal."""
        by_name = self._module.calls_by_name
        for call in by_name.get("getattr", ()):
            if len(call.args) == 2 and walks.text(call.args[1]) is None:
                if not any(type(each) is ast.Starred for each in call.args):
                    yield call, call.args[0], call.args[1]
        for call in by_name.get("getmembers", ()):
            if call.args:
                yield call, call.args[0], None
        for call in by_name.get("partial", ()):
            if len(call.args) == 2 and last_word(call.args[0]) == "getattr":
                yield call, call.args[1], None

    # Names in texts.

    def texts(self) -> None:
        """Leaves names of TensorFlow in strings that are names or code, and in types."""
        for node in self._module.annotations:
            for dotted in self._plan.evaluator.annotated_names(self._module, node):
                self._leave_text(node, dotted, self._code(node) + ": a name in a string")
        for node in self._module.of(ast.Constant):
            text = walks.text(node)
            if not text or type(self._module.parent(node)) is ast.JoinedStr:
                continue
            whole = _WHOLE.match(text)
            if whole is not None:
                if not text.startswith("tf.") or self._runs(node):
                    self._leave_text(node, whole.group(1), '"%s": a name in a string' % text)
            elif self._runs(node) or "import tensorflow" in text:
                self._leave_code(node, text)
            elif ">>> " in text:
                for example in _EXAMPLE.finditer(text):
                    line = text.count("\n", 0, example.start(1))
                    self._leave_code(node, example.group(1), line)
        for comment in _TYPE.finditer(self._module.text):
            self._leave_comment(comment)

    def _runs(self, node: Any) -> bool:
        """Whether a string is code that is run, or a name that is patched or imported."""
        call = self._module.parent(node)
        if type(call) is not ast.Call or node not in call.args[:1]:
            return False
        word = last_word(call.func)
        if word == "compile":
            return type(call.func) is ast.Name
        return word in (*_RUNNING, "patch", *builtin_calls.IMPORTING)

    def _leave_code(self, node: Any, text: str, line: int | None = None) -> None:
        what = "code in a string" if line is None else "an example in a docstring"
        for dotted in dict.fromkeys(_INSIDE.findall(text)):
            self._leave_text(node, dotted, "tf.%s: %s" % (dotted, what), line)
        if "import" in text and "tensorflow" in text:
            words = self._words_below({""})
            for name in dict.fromkeys(_MEMBER.findall(text)):
                if name in words:
                    self._leave_word(node, words[name], "%s in %s" % (name, what), line)
        for name in dict.fromkeys(_MEMBER.findall(text)):
            rule = self._table.get(("strategy", name))
            if rule is not None and name not in OF_OTHERS:
                seen = "%s: %s" % (name, what)
                self._leave(node, rule.name, seen, new_name(rule, name), line)

    def _leave_text(self, node: Any, dotted: str, seen: str, line: int | None = None) -> None:
        rule = self._rule_of(dotted)
        if rule is not None:
            self._leave(node, rule, seen, _instead(dotted), line)

    def _leave_comment(self, comment: re.Match[str]) -> None:
        text = self._module.text
        for dotted in _INSIDE.findall(comment.group(1)):
            rule = self._rule_of(dotted)
            if rule is not None and rule != IMPORTS:
                line = text.count("\n", 0, comment.start()) + 1
                column = comment.start() - text.rfind("\n", 0, comment.start())
                seen = "tf.%s: a type in a comment" % dotted
                if not self._module.marks.ignored(line, rule):
                    self._plan.left.append((line, column, rule, seen, _instead(dotted), False))

    # Modules that are handed on.

    def handed_on(self) -> None:
        """Leaves names that are gone, on what is unknown, where a module of theirs is handed on."""
        words = self._words_below(self._handed())
        for node in self._module.of(ast.Attribute) if words else ():
            if node.attr in words and type(node.ctx) is ast.Load:
                if not self._plan.program.may_hold(self._module.path, node.value):
                    continue
                values = self._plan.evaluator.values(self._module, node.value)
                is_gone = surfaces.gone_today(words[node.attr]) is not None
                if ("unknown",) in values and (is_gone or self._is_bound_here(node)):
                    self._leave_word(node, words[node.attr], self._code(node))
        for function in ("attrgetter", "methodcaller") if words else ():
            for call in self._module.calls_by_name.get(function, ()):
                text = walks.text(call.args[0]) if call.args else None
                word = (text or "").rpartition(".")[2]
                if word in words:
                    self._leave_word(call.args[0], words[word], '"%s"' % text)

    def _is_bound_here(self, node: Any) -> bool:
        """Whether what a dotted name begins with is made in this file: a variable, a call, ..."""
        name = import_origins.first_name(node)
        if type(name) is not ast.Name:
            return True
        bindings = self._module.scope(name)[name.id]
        return not all(each.is_import for each in bindings)

    def _leave_word(self, node: Any, full: str, seen: str, line: int | None = None) -> None:
        rule = IMPORTS if surfaces.gone_today(full) is None else "gone-names"
        self._leave(node, rule, "%s: it may be tf.%s" % (seen, full), _instead(full), line)

    def _handed(self) -> set[str]:
        """The modules of TensorFlow that are values here: passed, assigned to more, put in."""
        found = {
            below
            for node in self._module.of(ast.Constant)
            for below in [tensorflow_names.below_tensorflow(walks.text(node) or "")]
            if below is not None and not self._runs(node)
        }
        for node in self._module.of(ast.Attribute, ast.Name):
            parent = self._module.parent(node)
            is_part = type(parent) is ast.Attribute or type(node.ctx) is not ast.Load
            is_plain = type(parent) is ast.Assign and type(parent.targets[0]) is ast.Name
            is_asked = type(parent) is ast.Call and last_word(parent.func) in _BY_NAME
            if is_part or is_plain or type(parent) is ast.Call and node is parent.func:
                continue
            if is_asked and node is parent.args[0]:
                continue
            if begins_with_tensorflow(self._plan, node):
                found |= self._plan.evaluator.tensorflow_names(self._module, node)
        return {each for each in found if each.partition(".")[0] != "contrib"}

    def _words_below(self, modules: set[str]) -> dict[str, str]:
        """{last word: the whole name} of names that are gone below some modules."""
        is_of_2 = not self._plan.program.wants_v1(self._module.path)
        of_1 = surfaces.FIRST_GENERATION if "2.0" in self._plan.steps and is_of_2 else ()
        found = {}
        for name in (*of_1, *surfaces.GONE_TODAY):
            above, _, last = name.rpartition(".")
            is_below = any(not each or (above + ".").startswith(each + ".") for each in modules)
            if is_below and (last.count("_") or last[:1].isupper()):
                found[last] = name
        return found


def _is_getattr(node: Any) -> bool:
    return type(node) is ast.Call and last_word(node.func) == "getattr" and bool(node.args)


def _may_be_of_1(node: Any) -> bool:
    """Whether one of the words of a dotted name is one that TensorFlow 1 alone has."""
    while type(node) is ast.Attribute:
        if node.attr in _LAST_OF_1:
            return True
        node = node.value
    return type(node) is ast.Call


def _instead(dotted: str) -> str:
    """What to type instead of a dotted name below ``tf``."""
    plain = era_names.without_compat(dotted).strip(".")
    for era in ("v2_0", "v2_2", "latest"):
        if plain in surfaces.NAMES[era]:
            return "tensorflow." + surfaces.NAMES[era][plain]
    gone = surfaces.gone_today(plain)
    if gone:
        return surfaces.instead_of_gone(gone)
    if plain.partition(".")[0] != "contrib":
        return "tensorflow.compat.v1." + plain
    new = surfaces.successor(plain)
    return new.target if new is not None else surfaces.gone_text(plain)
