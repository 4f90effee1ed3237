"""One file as libcst sees it: tree, scopes, parents and positions."""

import libcst as cst

from tpudist.tools.migrate.resolution import marks, places, scopes, skeletons, syntax_trees


class Module:
    """A parsed file.

    Args:
      path: its path.
      text: its source.
      exact: whether libcst reads all of it, layout and all.

    Attributes:
      tree: a libcst Module; without layout if there is a skeleton.
      skeleton: the `Skeleton` that it is of, None if libcst has read it.
      nodes: its `Nodes`.
      class_attributes: what `tpudist.tools.migrate.resolution.members` keeps of its classes.

    Raises:
      libcst.ParserSyntaxError: it is not Python 3.
    """

    def __init__(self, path, text, exact=False):
        self.path = path
        self.text = text
        self.skeleton = None if exact else skeletons.of(text)
        self._whole = cst.parse_module(text) if self.skeleton is None else None
        self.tree = self._whole or self.skeleton.tree
        self.nodes = Nodes(self.tree)
        self._parents = self.nodes.parents
        self._scopes = scopes.scopes(self.tree, self._parents)
        self._places = self.class_attributes = None
        self.marks = marks.Marks(text)

    def release(self):
        """Has what refers to each other let go, so that memory is free without a collector."""
        for scope in list(self._scopes.values()) + [self.global_scope().parent]:
            scope.release()
        self._places = None

    def scope(self, node):
        """The scope a node is in."""
        scopes_, parents = self._scopes, self._parents
        while node is not None:
            found = scopes_.get(id(node))
            if found is not None:
                return found
            node = parents.get(id(node))
        return scopes_[id(self.tree)]

    def global_scope(self):
        """The scope of the module's own names."""
        return self.scope(self.tree)

    def parent(self, node):
        """The node around a node, None for the module."""
        return self._parents.get(id(node))

    def assign(self, assignment):
        """The Assign by which a variable alone gets its value; None of a parameter, a loop, ...

        Args:
          assignment: one of a name in a scope.
        """
        node = getattr(assignment, "node", None)
        target = None if node is None else self.parent(node)
        return self.parent(target) if isinstance(target, cst.AssignTarget) else None

    def around(self, node, kind):
        """The nearest node of a class, or of one of a tuple of them, around a node, or None."""
        kinds, parents = kind if type(kind) is tuple else (kind,), self._parents
        node = parents.get(id(node))
        while node is not None and type(node) not in kinds:
            node = parents.get(id(node))
        return node

    def said_kind(self, node):
        """The kind that a mark on a node's line says it is of; None if there is none."""
        return self.marks.kind(self.place(node)[0]) if self.marks.any_kind() else None

    def whole(self):
        """The tree as libcst reads it, layout and all."""
        if self._whole is None:
            self._whole = cst.parse_module(self.text)
        return self._whole

    @property
    def written_back(self):
        """What libcst writes for what it has read: the text, or it does not know what that was."""
        return self.text if self._whole is None else self._whole.code

    def place(self, node):
        """(line, column) of a node, both from 1."""
        if self._places is None:
            self._places = places.places(self)
        return self._places.place(node)

    def import_lines(self):
        """The lines on which import statements begin; none if libcst has read it."""
        places_ = [self.skeleton.place(node) for node in self.nodes.imports if self.skeleton]
        return {place[0] for place in places_}

    def code(self, node):
        """The source of a node."""
        if self._places is None:
            self._places = places.places(self)
        return self._places.code(node)

    def copied(self, node):
        """A node of its own that is written as an expression of the file is."""
        if self.skeleton is None:
            return node.deep_clone()
        code = self.code(node)
        if code.isidentifier() and type(node) is cst.Name:
            return cst.Name(code)
        try:
            return cst.parse_expression(code)
        except cst.ParserSyntaxError:
            return cst.parse_expression("(%s)" % code)

    def span(self, node):
        """(start, end) of an expression in the text, its own parentheses included."""
        if self._places is None:
            self._places = places.places(self)
        return self._places.span(node)

    def lines_of(self, statement):
        """(start, end) in the text of a statement of the module's own level.

        With the lines above it that no other statement has, and the end of its last one.
        """
        return self.skeleton.lines_of(statement)

    def default_indent(self):
        """What the lines of the file are indented with."""
        return self.skeleton.default_indent()


class Nodes:
    """The nodes of a tree that are asked for again and again, in order: one walk finds them.

    Args:
      tree: a libcst node.

    Attributes:
      parents: {id of a node: the node around it}.
      definitions: functions, classes and the targets of assignments.
    """

    def __init__(self, tree):
        self.attributes, self.calls, self.imports, self.names = [], [], [], []
        self.calls_by_name, self.passed_by_name = {}, {}
        self.returns, self.annotations, self.stored = {}, [], {}
        self.subscripts = []
        self.parents, self.definitions = {}, []
        self._walk(tree)

    def _walk(self, tree):
        parents, children = self.parents, syntax_trees.children
        taken = {
            cst.Name: self.names.append, cst.Attribute: self.attributes.append,
            cst.Import: self.imports.append, cst.ImportFrom: self.imports.append,
            cst.AssignTarget: self._take_target, cst.AnnAssign: self._take_target,
            cst.Annotation: self._take_annotation, cst.Call: self._take_call,
            cst.Return: self._take_return, cst.Yield: self._take_return,
            cst.ClassDef: self.definitions.append, cst.FunctionDef: self.definitions.append,
            cst.Subscript: self.subscripts.append,
        }  # fmt: skip
        leaves, todo = syntax_trees.LEAVES, [tree]
        while todo:
            node = todo.pop()
            kind = type(node)
            take = taken.get(kind)
            if take is not None:
                take(node)
            if kind in leaves:
                continue
            below = children(node)
            for each in below:
                parents[id(each)] = node
            below.reverse()
            todo += below

    def _take_annotation(self, node):
        self.annotations += _strings(node.annotation)

    def _take_return(self, node):
        function = self.parents.get(id(node))
        while function is not None and type(function) not in (cst.FunctionDef, cst.Lambda):
            function = self.parents.get(id(function))
        if function is not None:
            value = node.value if type(node) is cst.Return else node
            self.returns.setdefault(function, []).append(value)

    def _take_target(self, node):
        self.definitions.append(node)
        if type(node) is cst.AnnAssign:
            self.annotations += _strings(node.annotation.annotation)
        if isinstance(node.target, cst.Attribute):
            self.stored.setdefault(node.target.attr.value, []).append(node.target)

    def _take_call(self, node):
        self.calls.append(node)
        self.calls_by_name.setdefault(last_word(node.func), []).append(node)
        for index, argument in enumerate(node.args):
            word = last_word(argument.value)
            if word:
                self.passed_by_name.setdefault(word, []).append((node, index))


def last_word(node):
    """The last identifier of ``a.b.c``, "" of anything else."""
    kind = type(node)
    if kind is cst.Attribute:
        return node.attr.value
    return node.value if kind is cst.Name else ""


def dotted_name(node):
    """ "a.b.c" of a Name or Attribute, "" of anything else."""
    words = []
    while type(node) is cst.Attribute:
        words.append(node.attr.value)
        node = node.value
    return ".".join([node.value] + words[::-1]) if type(node) is cst.Name else ""


def _strings(annotation):
    """The types of an annotation that are written as strings; what ``Literal`` has are values."""
    if type(annotation) is cst.SimpleString:
        return [annotation]
    inner = []
    if type(annotation) is cst.BinaryOperation:
        inner = [annotation.left, annotation.right]
    elif type(annotation) in (cst.List, cst.Tuple):
        inner = [element.value for element in annotation.elements]
    elif type(annotation) is cst.Subscript and last_word(annotation.value) != "Literal":
        inner = [each.slice.value for each in annotation.slice if type(each.slice) is cst.Index]
    return [string for each in inner for string in _strings(each)]
