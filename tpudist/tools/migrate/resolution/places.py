"""Where the nodes of a file are, and the source of each."""

import keyword
import re

import libcst as cst
from libcst import metadata
from libcst.metadata import position_provider

from tpudist.tools.migrate.resolution import syntax_trees

#: What stands before a parenthesis that is a call's.
_SPACES = (" ", "\n", "\t")
_CALLED = re.compile(r"(?:([A-Za-z_]\w*)|[\])\"'])[ \t]*\Z")


def places(module):
    """The places of a `Module`, of a class that fits how it was read."""
    return _Written(module) if module.skeleton is None else _Spans(module)


def _positions(tree, whole):
    """{node: its CodeRange} of what is written for a tree."""
    positions = metadata.PositionProvider()
    state = position_provider.PositionProvidingCodegenState(
        default_indent=whole.default_indent,
        default_newline=whole.default_newline,
        provider=positions,
    )
    tree._codegen(state)
    return positions._computed


class _Written:
    """The places of a file that libcst has read: it is written once for them."""

    def __init__(self, module):
        self._tree = module.tree
        self._positions = _positions(self._tree, self._tree)

    def place(self, node):
        """(line, column), both from 1."""
        start = self._positions[node].start
        return start.line, start.column + 1

    def code(self, node):
        """The source."""
        return self._tree.code_for_node(node).strip()


class _Spans:
    """The places of a file that was read as a skeleton."""

    def __init__(self, module):
        self._module, self._skeleton = module, module.skeleton
        self._text = module.text
        self._strings = {id(node): (node, start) for node, start, _ in module.skeleton.strings()}
        self._inside = {}

    def place(self, node):
        """(line, column), both from 1."""
        return self._skeleton.place(node) or self._skeleton.line_and_column(self._span(node)[0])

    def code(self, node):
        """The source."""
        if self._module.parent(node) is None:  # a rule has made it
            return cst.Module([]).code_for_node(node)
        if isinstance(node, cst.SimpleStatementLine) and (
            self._module.parent(node) is self._module.tree
        ):
            start, end = self._skeleton.lines_of(node)
        else:
            start, end = self.span(node)
        return self._text[start:end].strip()

    def span(self, node):
        """(start, end), with parentheses of its own."""
        span, text = self._span(node), self._text
        while isinstance(node, cst.BaseExpression):
            start, end = span
            while text[start - 1 : start] in _SPACES:
                start -= 1
            while text[end : end + 1] in _SPACES:
                end += 1
            if text[start - 1 : start] != "(" or text[end : end + 1] != ")":
                break
            called = _CALLED.search(text[max(0, start - 60) : start - 1])
            if called and not (called.group(1) and keyword.iskeyword(called.group(1))):
                break
            span = start - 1, end + 1
        return span

    def _span(self, node):
        found, parent = self._skeleton.span(node), self._module.parent(node)
        if isinstance(parent, cst.Param) and node is parent.name:
            return found[0], found[0] + len(node.value)
        if found is None and isinstance(parent, cst.Attribute) and node is parent.attr:
            around = self._skeleton.span(parent)
            found = around and (around[1] - len(node.value), around[1])
        return found or self._in_string(node) or self._of_parts(node)

    def _of_parts(self, node):
        """From the first part of a node to the last; of a bare word, where it stands around it."""
        parts = syntax_trees.children(node)
        known = [each for each in parts if self._skeleton.span(each)]
        spans = [self._span(each) for each in known or parts]
        if spans:
            return min(each[0] for each in spans), max(each[1] for each in spans)
        around = self._module.parent(node)
        while self._skeleton.span(around) is None:
            around = self._module.parent(around)
        start, end = self._skeleton.span(around)
        word = re.search(r"\b%s\b" % re.escape(getattr(node, "value", "")), self._text[start:end])
        return (start + word.start(), start + word.end()) if word else (start, end)

    def _in_string(self, node):
        """The span of a node of a string that libcst has read; None of any other."""
        above = node
        while above is not None and id(above) not in self._strings:
            above = self._module.parent(above)
        if above is None:
            return None
        tree, start = self._strings[id(above)]
        if id(tree) not in self._inside:
            self._inside[id(tree)] = _positions(tree, cst.Module([]))
        place = self._inside[id(tree)].get(node)
        if place is None:
            return None
        lines = cst.Module([]).code_for_node(tree).split("\n")
        first, last = (
            start + sum(len(line) + 1 for line in lines[: each.line - 1]) + each.column
            for each in (place.start, place.end)
        )
        return first, last
