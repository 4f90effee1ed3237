"""One source file: its syntax tree, its scopes, and where its nodes stand in the text."""

from __future__ import annotations

import ast
import collections
import functools
import keyword
import re
import sys
from typing import Any, Iterator, NamedTuple

from tpudist import surfaces
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution import scopes, sources
from tpudist.tools.migrate.resolution.fixed_point import OTHER, Values

_NEWLINE = re.compile(r"\r\n|\r|\n")
#: Python 3.8 to 3.11 place the expressions of an f-string wrongly.
_MISPLACED = sys.version_info < (3, 12)
#: Strings, comments, and ends of lines that go on.
_TEXTS = re.compile(sources.TEXTS.pattern + r"|\\\r?\n")
_NOT_OF_WORDS = re.compile(r"\W")
_LONG = 20  # characters, more than a keyword has
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Argument(NamedTuple):
    """An argument of a call."""

    value: Any  # its expression
    name: str  # its keyword, "" if it has none
    star: str  # "*", "**" or ""
    # where it stands in the text, keyword and star included
    start: int
    end: int


class Module:
    """A parsed file: its tree, nodes, and marks of the user; raises what `walks.parse` raises."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.tree = walks.parse(text)
        self.nodes = walks.nodes(self.tree)
        self.of = self.nodes.of
        self.marks = Marks(text)
        self._is_ascii = text.isascii()
        self._arguments: dict[Any, list[Argument]] = {}
        self.class_attributes: dict[Any, dict[str, list[Any]]] = {}

    @functools.cached_property
    def _parents(self) -> dict[Any, Any]:
        return walks.parents(self.nodes)

    @functools.cached_property
    def _scopes(self) -> scopes.Scopes:
        return scopes.Scopes(self.tree, self.of, self._parents)

    @functools.cached_property
    def calls_by_name(self) -> dict[str, list[ast.Call]]:
        """{last word of what is called: the calls}."""
        found: dict[str, list[ast.Call]] = {}
        for node in self.of(ast.Call):
            found.setdefault(last_word(node.func), []).append(node)
        return found

    @functools.cached_property
    def returns(self) -> dict[Any, list[Any]]:
        """{function: what it returns and yields}."""
        found: dict[Any, list[Any]] = collections.defaultdict(list)
        for node in self.of(ast.Return, ast.Yield):
            function = self.around(node, (*FUNCTIONS, ast.Lambda))
            if function is not None:
                found[function].append(node.value if type(node) is ast.Return else node)
        return found

    @functools.cached_property
    def unplaced(self) -> set[Any]:
        """The nodes in f-strings, where this Python does not say where they stand."""
        inside = self.of(ast.FormattedValue) if _MISPLACED else ()
        return {each for node in inside for each in ast.walk(node.value)}

    @functools.cached_property
    def _starts(self) -> list[int]:
        """The offsets at which the lines begin in the text."""
        return [0] + [each.end() for each in _NEWLINE.finditer(self.text)]

    @functools.cached_property
    def annotations(self) -> list[Any]:
        """The types that are written as strings."""
        typed = [node.annotation for node in self.of(ast.AnnAssign, ast.arg)]
        typed += [node.returns for node in self.of(*FUNCTIONS)]
        every = [each for node in typed if node is not None for each in ast.walk(node)]
        return [each for each in every if walks.text(each) is not None]

    @property
    def imports(self) -> list[Any]:
        """The import statements, in the order of the text."""
        return sorted(self.of(*walks.IMPORTS), key=lambda node: (node.lineno, node.col_offset))

    # What is around a node.

    def parent(self, node: Any) -> Any:
        """The node around a node, None for the module."""
        return self._parents.get(node)

    def around(self, node: Any, kinds: Any) -> Any:
        """The nearest node of a class, or of one of several, around a node; or None."""
        node = self._parents.get(node)
        while node is not None and not isinstance(node, kinds):
            node = self._parents.get(node)
        return node

    def statement(self, node: Any) -> ast.stmt | None:
        """The statement that a node is, or is a part of."""
        return node if isinstance(node, ast.stmt) else self.around(node, ast.stmt)

    def scope(self, node: Any) -> scopes.Scope:
        """The scope that a node is in."""
        return self._scopes.around(node)

    def global_scope(self) -> scopes.Scope:
        """The scope of the module's own names."""
        return self._scopes.outermost

    def references(self, scope: scopes.Scope, name: str) -> list[Any]:
        """Returns the nodes that read a name of a scope: names, and annotations in strings."""
        return self._references.get((scope.owner(name), name), [])

    @functools.cached_property
    def _references(self) -> dict[tuple[scopes.Scope, str], list[Any]]:
        return self._scopes.references(self.of(ast.Name), self.annotations)

    def assign(self, binding: scopes.Binding) -> ast.Assign | None:
        """The Assign by which a variable alone gets its value; None of a parameter, a loop, ..."""
        parent = self.parent(binding.node)
        return parent if type(parent) is ast.Assign else None

    # Where a node stands.

    def offset(self, line: int, column: int) -> int:
        """The offset of a line, from 1, and a column in its UTF-8 bytes, from 0."""
        start = self._starts[line - 1]
        if self._is_ascii:
            return start + column
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return start + len(self.text[start:end].encode("utf-8")[:column].decode("utf-8", "ignore"))

    def span(self, node: Any) -> tuple[int, int]:
        """(start, end) of a node in the text; parentheses around an expression are not its own."""
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno, node.end_col_offset)

    def code(self, node: Any) -> str:
        """The source of a node; of one that is not placed its name."""
        if node in self.unplaced:
            return dotted_name(node) or "an expression"
        return self.text[slice(*self.span(node))]

    def place(self, node: Any) -> tuple[int, int]:
        """(line, column) of a node, both from 1; of what is decorated, that of its own line."""
        return node.lineno, self.offset(node.lineno, node.col_offset) - self.line_start(node) + 1

    def line_start(self, node: Any) -> int:
        """The offset at which the first line of a node begins."""
        return self._starts[node.lineno - 1]

    def line_end(self, node: Any) -> int:
        """The offset at which the line after a node begins, or the text ends."""
        line = node.end_lineno
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def comment_place(self, line: int) -> int | None:
        """The offset at which a comment may be put behind a line; None if the line goes on."""
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        place = start + len(self.text[start:end].rstrip())
        inside = any(
            each.lineno <= line < each.end_lineno for each in self.of(ast.Constant, ast.JoinedStr)
        )
        return None if inside or self.text[start:place].endswith("\\") else place

    def indent(self, node: Any) -> str:
        """The indentation of a statement's line."""
        line = self.text[self.line_start(node) : self.span(node)[0]]
        return line[: len(line) - len(line.lstrip())]

    def arguments(self, call: ast.Call) -> list[Argument]:
        """The arguments of a call, in the order of the text."""
        if call not in self._arguments:
            found = []
            for node in call.args:
                is_starred = isinstance(node, ast.Starred)
                value = node.value if isinstance(node, ast.Starred) else node
                start, end = self.outer_span(value)
                start = self.span(node)[0] if is_starred else start
                found.append(Argument(value, "", "*" * is_starred, start, end))
            for each in call.keywords:
                start, end = self.outer_span(each.value)
                start = self._code_alone[:start].rstrip().rindex(each.arg or "**")
                star = "" if each.arg else "**"
                found.append(Argument(each.value, each.arg or "", star, start, end))
            self._arguments[call] = sorted(found, key=lambda each: each.start)
        return self._arguments[call]

    @functools.cached_property
    def _code_alone(self) -> str:
        """The text with blanks in place of comments, and of what has a line go on."""
        return _TEXTS.sub(
            lambda found: found.group() if found.group()[0] in "\"'" else " " * len(found.group()),
            self.text,
        )

    def is_alone(self, statement: Any) -> bool:
        """Whether no other statement is on the lines of one."""
        start, end = self.span(statement)
        before = self.text[self.line_start(statement) : start]
        after = self.text[end : self.line_end(statement)].strip()
        return not before.strip() and (not after or after.startswith("#"))

    def outer_span(self, node: Any) -> tuple[int, int]:
        """(start, end) of an expression in the text, with the parentheses around it alone."""
        (start, end), code = self.span(node), self._code_alone
        while True:
            before, after = code[:start].rstrip(), end
            while code[after : after + 1].isspace():
                after += 1
            if not before.endswith("(") or code[after : after + 1] != ")":
                return start, end
            called = before[:-1].rstrip()  # the parenthesis belongs to it, as in ``f(``
            word = _NOT_OF_WORDS.split(called[-_LONG:])[-1]
            if called[-1:] in (")", "]") or bool(word) and not keyword.iskeyword(word):
                return start, end
            start, end = len(before) - 1, after + 1


def dotted_name(node: Any) -> str:
    """ "a.b.c" of a Name or Attribute, "" of anything else."""
    words = []
    while type(node) is ast.Attribute:
        words.append(node.attr)
        node = node.value
    return ".".join([node.id] + words[::-1]) if type(node) is ast.Name else ""


def first_name(node: Any) -> ast.AST:
    """The expression that ``a.b.c`` begins with."""
    while type(node) is ast.Attribute:
        node = node.value
    return node


def first_word(node: Any) -> str:
    """The word that ``a.b.c`` begins with, "" if it begins with something else."""
    node = first_name(node)
    return node.id if type(node) is ast.Name else ""


def is_none(node: Any) -> bool:
    """Whether an expression is the literal None."""
    return type(node) is ast.Constant and node.value is None


def imported(node: Any) -> Iterator[tuple[str, str]]:
    """Yields (full name, bound name) of what an import statement binds, but for relative ones."""
    if type(node) is ast.Import:
        for alias in node.names:
            yield alias.name, alias.asname or alias.name.split(".")[0]
    elif not node.level and node.names[0].name != "*":
        for alias in node.names:
            yield "%s.%s" % (node.module, alias.name), alias.asname or alias.name


def is_star(node: Any) -> bool:
    """Whether an import statement is ``from x import *``."""
    return type(node) is ast.ImportFrom and node.names[0].name == "*"


_MARK = re.compile(r"#\s*tpudist:\s*(\w+)(?:\[([\w, -]+)\])?")
_OTHER = "other"


class Marks:
    """The marks of a file; `left` has those that an earlier run put there, by line."""

    def __init__(self, text: str) -> None:
        self._kinds: dict[int, str] = {}
        self._ignored: dict[int, set[str]] = {}
        self.left: dict[int, set[str]] = {}
        for number, line in enumerate(text.split("\n") if "tpudist:" in text else (), 1):
            mark = _MARK.search(line)
            word, rules = mark.groups() if mark is not None else ("", "")
            if word in ("ignore", "left"):
                names = {name.strip() for name in (rules or "*").split(",")}
                (self._ignored if word == "ignore" else self.left)[number] = names
            elif word == _OTHER or word in surfaces.DESCRIPTIONS:
                self._kinds[number] = word

    def values(self, line: int) -> Values | None:
        """The values that what a line defines is said to have; None if nothing is said."""
        kind = self._kinds.get(line)
        if kind is None:
            return None
        return OTHER if kind == _OTHER else frozenset([("is", kind)])

    def ignored(self, line: int, rule: str) -> bool:
        """Whether a rule is to pass over a line."""
        rules = self._ignored.get(line, ())
        return rule in rules or "*" in rules
