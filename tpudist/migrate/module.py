"""One file as libcst sees it: tree, scopes, parents and positions."""

import libcst as cst
from libcst import metadata


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
        self._wrapper = metadata.MetadataWrapper(self.tree, unsafe_skip_copy=True)
        self._scopes = self._wrapper.resolve(metadata.ScopeProvider)
        self._parents = self._wrapper.resolve(metadata.ParentNodeProvider)

        self._positions = self._nodes = None

    @property
    def nodes(self):
        """All names, attributes, calls, imports, functions and classes, in order."""
        if self._nodes is None:
            self._nodes = _Finder()
            self.tree.visit(self._nodes)
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
        if self._positions is None:
            self._positions = self._wrapper.resolve(metadata.PositionProvider)
        start = self._positions[node].start
        return start.line, start.column + 1

    def code(self, node):
        """The source of a node."""
        return self.tree.code_for_node(node).strip()


class _Finder(cst.CSTVisitor):
    """Collects the nodes that are asked for again and again."""

    def __init__(self):
        super().__init__()
        self.attributes, self.calls, self.imports = [], [], []
        self.functions, self.classes, self.names = [], [], []
        self.calls_by_name, self.passed_by_name = {}, {}
        self.returns = {}
        self._inside = []

    def visit_Attribute(self, node):
        self.attributes.append(node)

    def visit_Name(self, node):
        self.names.append(node)

    def visit_Import(self, node):
        self.imports.append(node)

    def visit_ImportFrom(self, node):
        self.imports.append(node)

    def visit_Call(self, node):
        self.calls.append(node)
        self.calls_by_name.setdefault(last_word(node.func), []).append(node)
        for index, argument in enumerate(node.args):
            if isinstance(argument.value, (cst.Name, cst.Attribute)):
                self.passed_by_name.setdefault(
                    last_word(argument.value), []).append((node, index))

    def visit_FunctionDef(self, node):
        self.functions.append(node)
        self._inside.append(node)

    def leave_FunctionDef(self, original_node):
        self._inside.pop()

    def visit_Lambda(self, node):
        self._inside.append(node)

    def leave_Lambda(self, original_node):
        self._inside.pop()

    def visit_ClassDef(self, node):
        self.classes.append(node)

    def visit_Return(self, node):
        if self._inside:
            self.returns.setdefault(self._inside[-1], []).append(node.value)

    def visit_Yield(self, node):
        if self._inside:
            self.returns.setdefault(self._inside[-1], []).append(node)


def last_word(node):
    """The last identifier of ``a.b.c``, "" of anything else."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def dotted_name(node):
    """"a.b.c" of a Name or Attribute, "" of anything else."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        base = dotted_name(node.value)
        return base + "." + node.attr.value if base else ""
    return ""
