"""A legacy use, as rules see it, and the ways to change it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.surfaces.eras import walks
from tpudist.tools.migrate.edits import Edits
from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.evaluate import Evaluator
from tpudist.tools.migrate.resolution.module import Argument, Module, first_name, imported

if TYPE_CHECKING:
    from tpudist.tools.migrate.program import Program
    from tpudist.tools.migrate.rules import Rule

#: Steps, in order, with the era each one leads to.
STEPS = {"2.0": "v2_0", "2.2": "v2_2", "latest": "latest"}
#: Rules whose result every TensorFlow has: in a file of no era it needs no other import.
OF_ANY = ("dataset-iterators", "keras-2")
#: What `Plan.asked` has for the import of ``tf``, which is known at the end.
ROOT = ""


class NotImportedError(Exception):
    """A file imports TensorFlow, but not where a name of it is to be written."""


class Plan:
    """The changes that some steps, taken together, make to one file.

    Attributes:
      keras: "2" or "3", which is to run the program; "" if that of its TensorFlow does.
      edits: the `Edits` of its text.
      rewritten, left: (line, column, rule, what was seen, what to type, why) of uses.
      respelled: the Names that ended a name's old spelling, and begin none now.
      has_moved: whether the file has names of another TensorFlow now, which it is to import.
      asked: {statement: the imports that are to stand behind it}; those of None stand first.
      home: the full name of what ``tf`` becomes.
    """

    def __init__(
        self,
        module: Module,
        evaluator: Evaluator,
        program: Program,
        steps: tuple[str, ...],
        target: str,
        renames: Mapping[str, str],
        keras: str = "",
    ) -> None:
        self.module, self.evaluator, self.program = module, evaluator, program
        self.steps, self.target, self._renames, self.keras = steps, target, renames, keras
        self._eras = program.eras
        self.edits = Edits(module.text)
        self.rewritten: list[tuple[int, int, str, str, str]] = []
        self.left: list[tuple[int, int, str, str, str, str]] = []
        self.respelled: set[Any] = set()
        self.has_moved = False
        self.asked: dict[Any, list[str]] = {}
        self.home = ""

    def has(self, name: str, is_v1: bool) -> bool:
        """Whether a name that today's TensorFlow lost is there: in tf.compat.v1, or by Keras 2."""
        is_kept = is_v1 and name in surfaces.KEPT_IN_V1
        return is_kept or self.keras == "2" and leads.keras_2_has(name, is_v1)

    def final(self, member: str) -> str:
        """The name of a strategy's member after the last step."""
        return self._renames.get(member, member)

    def done(self, node: Any, rule: str, seen: str, instead: str) -> None:
        """Records a use as rewritten: its names are of another TensorFlow now."""
        self.has_moved = self.has_moved or rule not in OF_ANY or self.module.path in self._eras
        self.rewritten.append((*self.module.place(node), rule, seen, instead))

    def leave(
        self, node: Any, rule: str, seen: str, instead: str, why: str = "", lasts: bool = True
    ) -> None:
        """Records a use as left, unless a mark on its line says to skip the rule.

        What no later run could see, for the names that show it change, does not last: it gets a
        mark, which `leave_marked` reports.
        """
        if self.ignores(node, rule):
            return
        self.left.append((*self.module.place(node), rule, seen, instead, why))
        if not lasts and not self.module.marks.left.get(node.lineno):
            end = self.module.comment_place(node.lineno)
            if end is not None:
                self.edits.insert(end, "  # tpudist: left[%s]" % rule)

    def leave_marked(self, words: Mapping[str, str]) -> None:
        """Records what marks say that an earlier run left; `words` are what to type, by rule."""
        told = {(line, rule) for line, _, rule, *_ in self.left}
        for line, rules in sorted(self.module.marks.left.items()):
            for rule in sorted(rules.intersection(words)):
                if (line, rule) not in told:
                    seen = self.module.text.split("\n")[line - 1].partition("#")[0].strip()
                    self.left.append((line, 1, rule, seen, words[rule], "an earlier run told it"))

    def ignores(self, node: Any, rule: str) -> bool:
        """Whether a mark on a node's line says to skip a rule."""
        return self.module.marks.ignored(node.lineno, rule)

    def tensorflow_at(self, node: Any) -> tuple[str, Any]:
        """(the name of ``tf`` where a node stands, or "", and the statement that binds it)."""
        scope, outermost, other = self.module.scope(node), self.module.global_scope(), None
        while scope.parent is not None:
            for each in sorted(scope.bindings, key=lambda each: _NAMES.get(each.name, each.name)):
                if each.is_import or scope is outermost:
                    values = self.evaluator.bound(self.module, each)
                    if tensorflow_names.only(values) == "":
                        return each.name, self.module.statement(each.node)
                    if other is None and is_of_tensorflow(each.node):
                        other = each.node
            scope = scope.around()
        return "", other

    def root(self, node: Any) -> str:
        """The name that ``tf`` has where a node stands; asks for its import if need be."""
        name, statement = self.tensorflow_at(node)
        if not name:
            self._ask(statement, ROOT)
        return name or "tf"

    def package(self, full: str, node: Any) -> str | None:
        """The expression for a full name of another package; None if its first word is taken."""
        whole = next(each for each in _IMPORTS if (full + ".").startswith(each + "."))
        line, start = _IMPORTS[whole]
        asked = [each for lines in self.asked.values() for each in lines]
        if line not in [self.module.code(each) for each in self.module.imports]:
            bound = start.partition(".")[0]
            if line not in asked and any(each.id == bound for each in self.module.of(ast.Name)):
                return None
            self._ask(self.tensorflow_at(node)[1], line)
        return start + full[len(whole) :]

    def _ask(self, statement: Any, line: str) -> None:
        """Asks for an import behind a statement; if that is None, before the first import."""
        if statement is None and any(map(is_of_tensorflow, self.module.imports)):
            raise NotImportedError
        lines = self.asked.setdefault(statement, [])
        if line not in lines:
            lines.append(line)


#: What sorts the likeliest names of TensorFlow before all others.
_NAMES = {"tf": "", "tensorflow": " "}


def is_of_tensorflow(node: Any) -> bool:
    """Whether a statement imports something of TensorFlow."""
    return type(node) in walks.IMPORTS and any(
        tensorflow_names.below_tensorflow(full) is not None for full, _ in imported(node)
    )


#: {what a full name begins with: (the import, what a program calls it)}.
_IMPORTS = {
    "tensorflow_probability": ("import tensorflow_probability as tfp", "tfp"),
    "tf_slim.nets": ("import tf_slim.nets", "tf_slim.nets"),
    "tf_slim": ("import tf_slim", "tf_slim"),
    "tpudist.legacy.contrib_ports": ("from tpudist.legacy import contrib_ports", "contrib_ports"),
}


class Use:
    """A use of a legacy name by a node, with its rule.

    `kind` is what the name belongs to; `name` the member, or the dotted name below ``tf``.
    """

    def __init__(self, plan: Plan, rule: str, kind: str, name: str, node: Any) -> None:
        self.plan, self.module, self.edits = plan, plan.module, plan.edits
        self._rule = rule
        self.kind, self.name, self.node = kind, name, node
        parent = self.module.parent(node)
        is_called = type(parent) is ast.Call and parent.func is node
        self.call: Any = parent if is_called else None

    @property
    def evaluator(self) -> Evaluator:
        """The `Evaluator`."""
        return self.plan.evaluator

    def apply(self, rule: Rule) -> None:
        """Applies a rule."""
        before = len(self.edits)
        try:
            rule.apply(self)
        except NotImportedError:
            self.edits.undo(before)
            self.leave("TensorFlow is imported elsewhere in this file", "import it here as well")

    # What is said of it.

    def note(self, instead: str) -> None:
        """Records the use as rewritten."""
        self.plan.done(self.node, self._rule, self.code(), instead)

    def leave(self, why: str, instead: str, lasts: bool = True) -> None:
        """Leaves the use as it is, and says why it cannot be rewritten and what to do instead."""
        self.plan.leave(self.node, self._rule, self.code(), instead, why, lasts)

    # What it is.

    def code(self, node: Any = None) -> str:
        """The source of a node, of the name itself if None, on one line."""
        return " ".join(self.module.code(self.node if node is None else node).split())

    def tensorflow_name(self, node: Any) -> str | None:
        """The dotted name below ``tf`` that an expression is, or None."""
        return self.evaluator.tensorflow_name(self.module, node)

    @property
    def arguments(self) -> list[Argument]:
        """The arguments of the call, in the order of the text."""
        return self.module.arguments(self.call)

    def argument(self, index: int, *keywords: str) -> Argument | None:
        """The argument at a position (-1 for none), or of one of some keywords, or None."""
        for each in self.arguments:
            if each.name and each.name in keywords:
                return each
        positional = [each for each in self.arguments if not each.name and each.star != "**"]
        if 0 <= index < len(positional) and not any(each.star for each in positional[: index + 1]):
            return positional[index]
        return None

    @property
    def has_stars(self) -> bool:
        """Whether the call has ``*`` or ``**`` arguments."""
        return any(each.star for each in self.arguments)

    def is_v1(self) -> bool:
        """Whether ``tf`` in the file is, or becomes, that of ``tf.compat.v1``."""
        imports = [full for node in self.module.imports for full, _ in imported(node)]
        return (
            self.plan.program.wants_v1(self.module.path)
            or any("tensorflow.compat.v1." in full + "." for full in imports)
            or self.evaluator.is_v1(self.module, self.node)
        )

    # Ways to change it.

    def rename_member(self, member: str, node: Any = None) -> None:
        """Writes ``x.member`` for ``x.old``, of the use or another Attribute; records nothing."""
        node = self.node if node is None else node
        end = self.module.span(node)[1]
        new = self.plan.final(member) if self.kind == "strategy" else member
        self.edits.replace(end - len(node.attr), end, new)

    def rename(self, member: str) -> None:
        """Rewrites ``x.old`` to ``x.member``, or to what that is called after the last step."""
        self.rename_member(member)
        self.note(self.plan.final(member) if self.kind == "strategy" else member)

    def respell(self, dotted: str) -> None:
        """Rewrites a name below ``tf`` to another one, unless an import or a variable gives it."""
        if type(self.node) is ast.Name:
            self.plan.has_moved = True
            return
        base = self.node
        while type(base) is ast.Attribute and self.tensorflow_name(base) != "":
            base = base.value
        above = self.tensorflow_name(base)
        if above == "":
            text = "%s.%s" % (self.module.code(base), dotted)
        elif above and dotted.startswith(above + "."):
            text = self.module.code(base) + dotted[len(above) :]
        else:
            text = self.spelled(dotted)
            self.plan.respelled.add(base)
        self.replace(self.node, text)
        self.note("tf." + dotted)

    def respell_whole(self, full: str) -> bool:
        """Rewrites a name below ``tf`` to one such as "tf_slim.conv2d"; whether it could."""
        text = self.plan.package(full, self.node)
        if text is None:
            return False
        base = first_name(self.node)
        if self.tensorflow_name(base) != "":
            self.plan.respelled.add(base)
        self.replace(self.node, text)
        self.note(text)
        return True

    def spelled(self, dotted: str) -> str:
        """The source of a name below ``tf``."""
        return "%s.%s" % (self.plan.root(self.node), dotted)

    def replace(self, node: Any, text: str) -> None:
        """Writes text for a node."""
        self.edits.replace(*self.module.span(node), text)

    def wrap(self, node: Any, before: str, after: str) -> None:
        """Writes text before and after a node."""
        self.edits.wrap(*self.module.span(node), before, after)

    def rename_keyword(self, argument: Argument, name: str) -> None:
        """Gives an argument another keyword."""
        self.edits.replace(argument.start, argument.start + len(argument.name), name)

    def make_positional(self, argument: Argument) -> None:
        """Takes the keyword of an argument away, if it has one."""
        if argument.name:
            self.edits.remove(argument.start, self.module.outer_span(argument.value)[0])

    def remove_arguments(self, removed: Iterable[Argument]) -> None:
        """Removes arguments of the call, with the commas that belong to them."""
        every, gone = self.arguments, list(removed)
        kept = [each for each in every if each not in gone]
        for index, each in enumerate(every):
            if each in gone:
                if any(other.start > each.start for other in kept):
                    self.edits.remove(each.start, every[index + 1].start)
                elif index and every[index - 1] in kept:
                    self.edits.remove(every[index - 1].end, every[-1].end)
        if not kept and gone:
            self.edits.remove(every[0].start, self.module.span(self.call)[1] - 1)

    def pack(self, packed: list[Argument]) -> bool:
        """Passes arguments on as ``args=(...)`` and ``kwargs={...}`` in place; whether it could."""
        values = [each for each in packed if not each.name]
        named = [each for each in packed if each.name]
        is_plain = bool(self.arguments) and not self.arguments[0].name and not self.has_stars
        if not is_plain or packed != values + named:
            return False
        if values:
            closing = ",)" if len(values) == 1 else ")"
            self.edits.wrap(values[0].start, values[-1].end, "args=(", closing)
        for each in named:
            value = self.module.outer_span(each.value)[0]
            self.edits.replace(each.start, value, '"%s": ' % each.name)
        if named:
            self.edits.wrap(named[0].start, named[-1].end, "kwargs={", "}")
        return True
