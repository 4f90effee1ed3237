"""A file's libcst tree without its layout, made from Python's own parser.

libcst's parser makes an object of each space and comma: a skeleton has the same nodes
in a tenth of the time, with what `syntax_trees.children` goes to and
what tells operators and stars apart. It is for reading; what is to be rewritten is
parsed by libcst, see `tpudist.tools.migrate.patches`.
"""

from __future__ import annotations

import ast
import bisect
import sys
from typing import TYPE_CHECKING, Any

import libcst as cst

from tpudist.tools.migrate.resolution import python_trees, skeleton_values
from tpudist.tools.migrate.resolution import skeleton_makers as make

if TYPE_CHECKING:
    from typing import Sequence

#: Before 3.9 indices are nodes of other classes.
_READABLE = sys.version_info >= (3, 9)
_SIMPLE = (
    ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert,
    ast.Delete, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Import,
    ast.ImportFrom,
)  # fmt: skip


def of(text: str) -> Skeleton | None:
    """The skeleton of a source; None if libcst has to read it."""
    if not _READABLE or "\r" in text or "\f" in text:
        return None
    try:
        return Skeleton(text, python_trees.parse(text))
    except (SyntaxError, ValueError, RecursionError, KeyError, skeleton_values.UnreadableError):
        return None


class Skeleton:
    """A source's tree.

    Args:
      text: the source.
      tree: its ast.

    Attributes:
      tree: the libcst Module, without layout.
    """

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._ascii = text.isascii()
        self._origins: dict[int, ast.AST] = {}
        self._texts: list[tuple[cst.CSTNode, int, int]] = []
        self._indent = ""
        self.tree: Any = make.module(self._block(tree.body))
        self._ends = self._last_lines(tree.body)
        self._indent = self._indent or "    "

    # Places.

    def span(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """(start, end) of a node in the text, without parentheses of its own; None if unknown."""
        origin = self._origins.get(id(node))
        return None if origin is None else self._span(origin)

    def place(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """(line, column) of a node, both from 1; None if unknown."""
        origin: Any = self._origins.get(id(node))
        if origin is None:
            return None
        return origin.lineno, self._column(origin.lineno, origin.col_offset) + 1

    def strings(self) -> list[tuple[cst.CSTNode, int, int]]:
        """(node, start, end) of each part that libcst has read."""
        return self._texts

    def line_and_column(self, index: int) -> tuple[int, int]:
        """(line, column) of an index of the text, both from 1."""
        line = bisect.bisect_right(self._starts, index)
        return line, index - self._starts[line - 1] + 1

    def lines_of(self, node: cst.CSTNode) -> tuple[int, int]:
        """(start, end) of the lines of a statement of the module's own level.

        Those above it that no other statement has are among them.
        """
        body = self.tree.body
        index = next(number for number, each in enumerate(body) if each is node)
        start = self._ends[index - 1] if index else 0
        return self._starts[start], min(self._starts[self._ends[index]], len(self.text))

    def default_indent(self) -> str:
        """What libcst takes the lines of the file to be indented with."""
        return self._indent

    def _span(self, node: Any) -> tuple[int, int]:
        return self._index(node.lineno, node.col_offset), self._index(
            node.end_lineno, node.end_col_offset
        )

    def _index(self, line: int, column: int) -> int:
        return self._starts[line - 1] + self._column(line, column)

    def _column(self, line: int, column: int) -> int:
        """A column in characters, of one in bytes."""
        if self._ascii:
            return column
        return len(self._lines[line - 1].encode("utf-8")[:column].decode("utf-8", "replace"))

    # Statements.

    def _block(self, body: Sequence[ast.stmt]) -> list[cst.CSTNode]:
        """The statements of a block: those on one line together."""
        found: list[cst.CSTNode] = []
        small: list[cst.CSTNode] = []
        last = 0
        for node in body:
            if not isinstance(node, _SIMPLE):
                found.append(self._compound(node))
                last = 0
                continue
            if last and self._goes_on(node, last):
                small.append(self._small(node))
            else:
                small = [self._small(node)]
                found.append(self.kept(make.line(small), node))
            last = node.end_lineno or 0
        return found

    def _goes_on(self, node: ast.stmt, last: int) -> bool:
        """Whether a small statement stands on the line that one before it ends on."""
        return node.lineno == last or self._lines[node.lineno - 2].endswith("\\")

    def _last_lines(self, body: Sequence[ast.stmt]) -> list[int]:
        """The last line of each statement, those on one line together."""
        found: list[int] = []
        small = 0
        for node in body:
            end = node.end_lineno or 0
            if isinstance(node, _SIMPLE) and small and self._goes_on(node, small):
                found[-1] = end
            else:
                found.append(end)
            small = end if isinstance(node, _SIMPLE) else 0
        return found

    def _suite(self, body: Sequence[ast.stmt]) -> cst.CSTNode:
        first = body[0]
        if isinstance(first, _SIMPLE):
            before = self._lines[first.lineno - 1].encode("utf-8")[: first.col_offset]
            if before.strip():
                return make.suite([self._small(node) for node in body])
        if not self._indent:
            self._indent = self._lines[first.lineno - 1][: first.col_offset]
        return make.block(self._block(body))

    def _small(self, node: ast.stmt) -> cst.CSTNode:
        return self.kept(getattr(self, "_" + type(node).__name__)(node), node)

    def _compound(self, node: ast.stmt) -> cst.CSTNode:
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            raise skeleton_values.UnreadableError()
        return self.kept(method(node), node)

    def kept(self, made: cst.CSTNode, node: ast.AST) -> cst.CSTNode:
        """The node made of one of ast, whose place is kept."""
        self._origins[id(made)] = node
        return made

    def _Expr(self, node: ast.Expr) -> cst.CSTNode:
        return make.expr(self.value(node.value))

    def _Assign(self, node: ast.Assign) -> cst.CSTNode:
        targets = [make.assign_target(self.value(each)) for each in node.targets]
        return make.assign(targets, self.value(node.value))

    def _AugAssign(self, node: ast.AugAssign) -> cst.CSTNode:
        return make.aug_assign(
            self.value(node.target), make.AUGMENTED[type(node.op)], self.value(node.value)
        )

    def _AnnAssign(self, node: ast.AnnAssign) -> cst.CSTNode:
        annotation = make.annotation(self.value(node.annotation))
        return make.ann_assign(self.value(node.target), annotation, self._maybe(node.value))

    def _Return(self, node: ast.Return) -> cst.CSTNode:
        return make.returned(self._maybe(node.value))

    def _Raise(self, node: ast.Raise) -> cst.CSTNode:
        cause = None if node.cause is None else make.come_from(self.value(node.cause))
        return make.raised(self._maybe(node.exc), cause)

    def _Assert(self, node: ast.Assert) -> cst.CSTNode:
        return make.asserted(self.value(node.test), self._maybe(node.msg))

    def _Delete(self, node: ast.Delete) -> cst.CSTNode:
        if len(node.targets) == 1:
            return make.deleted(self.value(node.targets[0]))
        return make.deleted(
            make.tuple_([skeleton_values.element(self, each) for each in node.targets])
        )

    def _Pass(self, node: ast.stmt) -> cst.CSTNode:
        return make.passed()

    def _Break(self, node: ast.stmt) -> cst.CSTNode:
        return make.broken()

    def _Continue(self, node: ast.stmt) -> cst.CSTNode:
        return make.continued()

    def _Global(self, node: ast.Global) -> cst.CSTNode:
        return make.global_([make.name_item(make.name(each)) for each in node.names])

    def _Nonlocal(self, node: ast.Nonlocal) -> cst.CSTNode:
        return make.nonlocal_([make.name_item(make.name(each)) for each in node.names])

    def _Import(self, node: ast.Import) -> cst.CSTNode:
        return make.import_([skeleton_values.alias(each) for each in node.names])

    def _ImportFrom(self, node: ast.ImportFrom) -> cst.CSTNode:
        star = node.names[0].name == "*"
        return make.import_from(
            skeleton_values.dotted(node.module) if node.module else None,
            cst.ImportStar() if star else [skeleton_values.alias(each) for each in node.names],
            [cst.Dot()] * (node.level or 0),
        )

    def _If(self, node: ast.If) -> cst.CSTNode:
        test, body, orelse = self.value(node.test), self._suite(node.body), None
        if node.orelse:
            inner = node.orelse[0]
            is_elif = isinstance(inner, ast.If) and self.text.startswith(
                "elif", self._index(inner.lineno, inner.col_offset)
            )
            orelse = self._compound(inner) if is_elif else make.orelse(self._suite(node.orelse))
        return make.if_(test, body, orelse)

    def _else(self, body: Sequence[ast.stmt]) -> cst.CSTNode | None:
        return make.orelse(self._suite(body)) if body else None

    def _For(self, node: Any) -> cst.CSTNode:
        return make.for_(
            self.value(node.target), self.value(node.iter), self._suite(node.body),
            self._else(node.orelse), make.asynchronous(node),
        )  # fmt: skip

    _AsyncFor = _For

    def _While(self, node: ast.While) -> cst.CSTNode:
        return make.while_(self.value(node.test), self._suite(node.body), self._else(node.orelse))

    def _With(self, node: Any) -> cst.CSTNode:
        items = [
            make.with_item(self.value(each.context_expr), self._as(each.optional_vars))
            for each in node.items
        ]
        return make.with_(items, self._suite(node.body), make.asynchronous(node))

    _AsyncWith = _With

    def _as(self, node: ast.expr | None) -> cst.CSTNode | None:
        return None if node is None else make.as_name(self.value(node))

    def _Try(self, node: Any) -> cst.CSTNode:
        handlers = [
            make.handler(
                self._maybe(each.type),
                make.as_name(make.name(each.name)) if each.name else None,
                self._suite(each.body),
            )
            for each in node.handlers
        ]
        final = make.finally_(self._suite(node.finalbody)) if node.finalbody else None
        return make.try_(self._suite(node.body), handlers, self._else(node.orelse), final)

    def _FunctionDef(self, node: Any) -> cst.CSTNode:
        if getattr(node, "type_params", None):
            raise skeleton_values.UnreadableError()
        returns = None if node.returns is None else make.annotation(self.value(node.returns))
        return make.function(
            self._decorators(node), make.name(node.name), None,
            skeleton_values.parameters(self, node.args), returns,
            self._suite(node.body), make.asynchronous(node),
        )  # fmt: skip

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef) -> cst.CSTNode:
        if getattr(node, "type_params", None):
            raise skeleton_values.UnreadableError()
        keywords = [skeleton_values.keyword(self, each) for each in node.keywords]
        bases = [skeleton_values.argument(self, each) for each in node.bases]
        return make.class_(
            self._decorators(node), make.name(node.name), None, bases, keywords,
            self._suite(node.body),
        )  # fmt: skip

    def _decorators(self, node: Any) -> list[cst.CSTNode]:
        return [make.decorator(self.value(each)) for each in node.decorator_list]

    # Expressions.

    def _maybe(self, node: ast.expr | None) -> cst.CSTNode | None:
        return None if node is None else self.value(node)

    def value(self, node: ast.expr) -> cst.CSTNode:
        """The skeleton of an expression."""
        made = skeleton_values.VALUES[type(node)](self, node)
        self._origins[id(made)] = node
        return made

    def source(self, node: ast.expr) -> str:
        """The source of an expression."""
        start, end = self._span(node)
        return self.text[start:end]

    def read(self, node: ast.expr) -> cst.CSTNode:
        """A string with values or of several parts, as libcst reads it."""
        start, end = self._span(node)
        try:
            made = cst.parse_expression("(%s)" % self.text[start:end])
        except cst.ParserSyntaxError:
            raise skeleton_values.UnreadableError() from None
        self._texts.append((made, start - 1, end + 1))
        return made
