"""Writing the edits of a file: only the expressions and statements that change are parsed anew.

A file that was read as a skeleton (`resolution.skeletons`) has no layout to write.
libcst parses the source of an edited expression, or of the statement of the module's own
level that an edited statement is in; what becomes of it takes its place in the text.
"""

import functools

import libcst as cst

from tpudist.tools.migrate import edits
from tpudist.tools.migrate.resolution import syntax_trees

_NOTHING = cst.Module([])
_BEFORE = "if 1:\n%spass\n"


@functools.lru_cache(maxsize=200)
def _parsed(text):
    """A module of one statement; the same one for the same text, never changed."""
    return cst.parse_module(text)


class MismatchError(Exception):
    """libcst reads something otherwise than the skeleton has it."""


def applied(module, edits_):
    """The text of a file after its edits.

    Args:
      module: its `Module`.
      edits_: {node: functions from the updated node to what it becomes}.

    Raises:
      MismatchError: it has to be read by libcst as a whole.
    """
    if module.skeleton is None:
        around = _around(module, edits_)
        return module.tree.visit(_Apply(edits_, around)).code
    if module.tree in edits_:
        return _whole(module, edits_)
    patches = _Patches(module, edits_)
    found = [patches.of_statement(node) for node in patches.statements]
    for top, nodes in patches.expressions.items():
        made = [patches.of_expression(node) for node in nodes]
        found += [patches.of_statement(top)] if None in made else made
    if None in found:
        return _whole(module, edits_)
    text, last = [], 0
    for start, end, new in sorted(found):
        text += [module.text[last:start], new]
        last = end
    return "".join(text) + module.text[last:]


def _whole(module, edits_):
    tree = module.whole()
    same = _pairs(module.tree, tree)
    around = {same[id(node)] for node in _around(module, edits_)}
    return tree.visit(_Apply({same[id(node)]: edits_[node] for node in edits_}, around)).code


def _pairs(skeleton, tree):
    """{id of a node of a skeleton: the same node of libcst's tree}."""
    found = {}
    todo = [(skeleton, tree)]
    while todo:
        old, new = todo.pop()
        if type(old) is not type(new):
            raise MismatchError()
        found[id(old)] = new
        below = syntax_trees.children(old), syntax_trees.children(new)
        if len(below[0]) != len(below[1]):
            raise MismatchError()
        todo.extend(zip(*below))
    return found


def _around(module, nodes):
    """The nodes, and those around them."""
    found = {module.tree}
    for node in nodes:
        while node not in found:
            found.add(node)
            node = module.parent(node)
    return found


class _Patches:
    """What is to be parsed of a file that was read as a skeleton.

    Args:
      module: its `Module`.
      edits_: see `applied`.

    Attributes:
      statements: those of the module's own level in which statements change.
      expressions: {statement of that level: the outermost expressions that change} elsewhere.
    """

    def __init__(self, module, edits_):
        self._module, self._edits = module, edits_
        tops = {node: self._top(node) for node in edits_}
        self._edited = {}
        for node, top in tops.items():
            self._edited.setdefault(id(top), []).append(node)
        self.statements = {
            top for node, top in tops.items() if not isinstance(node, cst.BaseExpression)
        }
        self.expressions, self._inside = {}, {}
        for node, top in tops.items():
            if top not in self.statements:
                outermost = self._outermost(node)
                self._inside.setdefault(id(outermost), []).append(node)
                self.expressions.setdefault(top, set()).add(outermost)

    def _top(self, node):
        while self._module.parent(node) is not self._module.tree:
            node = self._module.parent(node)
        return node

    def _outermost(self, node):
        found = node
        while node is not None:
            found = node if node in self._edits else found
            node = self._module.parent(node)
        return found

    def of_expression(self, node):
        """(start, end, new text) of an edited expression; None if more has to be parsed."""
        start, end = self._module.span(node)
        source = self._module.text[start:end]
        new = self._as_text(node, source)
        if new is not None:
            return start, end, new
        try:
            tree = edits.expression(source)
        except cst.ParserSyntaxError:
            return None
        inside = self._inside[id(node)]
        if inside == [node] and "#" not in source:
            return start, end, self._alone(node, tree)
        apply = self._apply(node, tree, inside)
        new = tree.visit(apply)
        if apply.homeless or not isinstance(new, cst.BaseExpression):
            return None
        return start, end, _NOTHING.code_for_node(new)

    def _alone(self, node, tree):
        """What becomes of an expression in which only itself is edited."""
        _pairs(node, tree)
        for edit in self._edits[node]:
            tree = edit(tree)
        return _NOTHING.code_for_node(tree)

    def _as_text(self, node, source):
        """What becomes of an expression whose only edit is one of its source; else None."""
        edit, *more = self._edits.get(node, (None,))
        if more or "#" in source or not isinstance(edit, edits.Spelled):
            return None
        inside = self._inside[id(node)]
        if isinstance(edit, edits.SpelledCall):
            return self._call_as_text(
                node, source, edit, [each for each in inside if each is not node]
            )
        return edit.text(source) if inside == [node] else None

    def _call_as_text(self, node, source, edit, inside):
        """What becomes of a call on one line, in which only what is called is edited besides."""
        span, text = self._module.span, self._module.text
        function = source[: span(node.func)[1] - span(node)[0]]
        arguments = [
            (each.keyword.value if each.keyword else "", each.star, text[slice(*span(each.value))])
            for each in node.args
        ]
        if edits.call_text(function, arguments) != source or "\n" in source:
            return None
        if inside:
            inner, *more = self._edits[inside[0]]
            if inside != [node.func] or more or type(inner) is not edits.Spelled:
                return None
            function = inner.text(function)
        return function and edit.text(function, arguments)

    def of_statement(self, node):
        """As `of_expression`, of a statement of the module's own level."""
        start, end = self._module.lines_of(node)
        indent = self._module.default_indent()
        before = _BEFORE % indent if start else ""
        old = before + self._module.text[start:end]
        tree = _parsed(old)
        if tree.code != old or (not before and tree.default_indent != indent):
            return None
        around = tree.body[-1]
        edited = self._edited[id(node)]
        made = tree.visit(self._apply(node, around, edited, tree))
        new = made.code if made.body or made.header or made.footer else ""
        return (start, end, new[len(before) :]) if new.startswith(before) else None

    def _apply(self, node, tree, inner, *above):
        """The transformer of a node's source with some edited ones; `above` is around it."""
        same = _pairs(node, tree)
        around = set(above)
        for each in inner:
            while id(each) in same:
                around.add(same[id(each)])
                each = self._module.parent(each)
        return _Apply({same[id(each)]: self._edits[each] for each in inner}, around)


class _Apply(cst.CSTTransformer):
    """Applies planned edits, inner nodes first; what has none is not walked.

    Comments that an edit has no place for go above the statement.

    Args:
      edits_: {node: functions}.
      around: the nodes that are edited, and those around them.

    Attributes:
      homeless: comments that had no statement to go above.
    """

    def __init__(self, edits_, around):
        super().__init__()
        self._edits, self._around = edits_, around
        self.homeless = []

    def on_visit(self, node):
        return node in self._around

    def on_leave(self, original_node, updated_node):
        for edit in self._edits.get(original_node, ()):
            before, updated_node = updated_node, edit(updated_node)
            self.homeless += _lost(before, updated_node)
        if self.homeless and hasattr(updated_node, "leading_lines"):
            lines = [cst.EmptyLine(comment=each) for each in self.homeless]
            self.homeless = []
            return updated_node.with_changes(leading_lines=list(updated_node.leading_lines) + lines)
        return updated_node


def _lost(before, after):
    """The comments of a node that are not in the one it became."""
    old = _comments(before)
    if not old or isinstance(after, cst.RemovalSentinel):
        return old
    kept = _comments(after)
    return [comment for comment in old if comment not in kept]


def _comments(made):
    """The comments of a node, or of several that stand in the place of one."""
    nodes = made.nodes if isinstance(made, cst.FlattenSentinel) else [made]
    return [comment for node in nodes for comment in edits.comments(node)]
