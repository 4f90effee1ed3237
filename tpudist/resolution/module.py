"""One file as libcst sees it: tree, scopes, parents and positions."""

import libcst as cst
from libcst import metadata
from libcst.metadata import position_provider

from tpudist.resolution import marks, scopes, syntax_trees


class Module:
    """A parsed file.

    Args:
      path: its path.
      text: its source.

    Raises:
      libcst.ParserSyntaxError: it is not Python 3.
    """

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.tree = cst.parse_module(text)
        self._parents = syntax_trees.parents(self.tree)
        self._scopes = scopes.scopes(self.tree, self._parents)
        self._positions = self._nodes = self._written_back = None
        self.marks = marks.Marks(text)

    @property
    def nodes(self):
        """All names, attributes, calls, imports, functions and classes, in order."""
        if self._nodes is None:
            self._nodes = Nodes(self.tree)
        return self._nodes

    def scope(self, node):
        """The scope a node is in."""
        while node is not None and self._scopes.get(node) is None:
            node = self._parents.get(node)
        return self._scopes[node if node is not None else self.tree]

    def global_scope(self):
        """The scope of the module's own names."""
        return self.scope(self.tree)

    def parent(self, node):
        """The node around a node, None for the module."""
        return self._parents.get(node)

    def around(self, node, kind):
        """The nearest node of a class around a node, or None."""
        node = self._parents.get(node)
        while node is not None and not isinstance(node, kind):
            node = self._parents.get(node)
        return node

    def place(self, node):
        """(line, column) of a node, both from 1."""
        self._write_back()
        start = self._positions[node].start
        return start.line, start.column + 1

    def said_kind(self, node):
        """The kind that a mark on a node's line says it is of; None if there is none."""
        return self.marks.kind(self.place(node)[0]) if self.marks.any_kind() else None

    @property
    def written_back(self):
        """What libcst writes for the tree: the text, or it does not know what it read."""
        self._write_back()
        return self._written_back

    def _write_back(self):
        """Writes the tree once, for its positions and its text."""
        if self._positions is None:
            positions = metadata.PositionProvider()
            state = position_provider.PositionProvidingCodegenState(
                default_indent=self.tree.default_indent,
                default_newline=self.tree.default_newline,
                provider=positions,
            )
            self.tree._codegen(state)
            self._positions, self._written_back = positions._computed, "".join(state.tokens)

    def code(self, node):
        """The source of a node."""
        return self.tree.code_for_node(node).strip()


class Nodes:
    """The nodes of a tree that are asked for again and again, in order.

    Args:
      tree: a libcst node.
    """

    def __init__(self, tree):
        self.attributes, self.calls, self.imports, self.names = [], [], [], []
        self.calls_by_name, self.passed_by_name = {}, {}
        self.returns, self.annotations, self.stored = {}, [], {}
        self._walk(tree, None)

    def _walk(self, tree, function):
        todo = [(tree, function)]
        while todo:
            node, function = todo.pop()
            self._take(node, function)
            if isinstance(node, (cst.FunctionDef, cst.Lambda)):
                function = node
            todo.extend((each, function) for each in reversed(syntax_trees.children(node)))

    def _take(self, node, function):
        kind = type(node)
        if kind is cst.Name:
            self.names.append(node)
        elif kind is cst.Attribute:
            self.attributes.append(node)
        elif kind is cst.AssignTarget or kind is cst.AnnAssign:
            self._take_target(node)
        elif kind is cst.Annotation and isinstance(node.annotation, cst.SimpleString):
            self.annotations.append(node.annotation)
        elif kind is cst.Call:
            self._take_call(node)
        elif kind is cst.Import or kind is cst.ImportFrom:
            self.imports.append(node)
        elif kind is cst.Return and function is not None:
            self.returns.setdefault(function, []).append(node.value)
        elif kind is cst.Yield and function is not None:
            self.returns.setdefault(function, []).append(node)

    def _take_target(self, node):
        if type(node) is cst.AnnAssign and isinstance(node.annotation.annotation, cst.SimpleString):
            self.annotations.append(node.annotation.annotation)
        if isinstance(node.target, cst.Attribute):
            self.stored.setdefault(node.target.attr.value, []).append(node.target)

    def _take_call(self, node):
        self.calls.append(node)
        self.calls_by_name.setdefault(last_word(node.func), []).append(node)
        for index, argument in enumerate(node.args):
            if isinstance(argument.value, (cst.Name, cst.Attribute)):
                self.passed_by_name.setdefault(last_word(argument.value), []).append((node, index))


def last_word(node):
    """The last identifier of ``a.b.c``, "" of anything else."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def dotted_name(node):
    """ "a.b.c" of a Name or Attribute, "" of anything else."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        base = dotted_name(node.value)
        return base + "." + node.attr.value if base else ""
    return ""
