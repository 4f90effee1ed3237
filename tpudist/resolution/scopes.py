"""The scopes of a tree, as libcst's ``ScopeProvider`` finds them, in a tenth of its time.

libcst has a tree rebuilt, white space included, by every visitor that looks at
it, and its metadata wrapper has it walked once more for each provider. Here is
its own visitor of scopes, on the walk of `tpudist.resolution.syntax_trees`.
"""

import libcst as cst
from libcst import metadata
from libcst.metadata import scope_provider

from tpudist.resolution import syntax_trees

_IN_TARGET = (cst.Element, cst.StarredElement, cst.Tuple, cst.List)
_WITH_TARGET = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For, cst.CompFor)


def scopes(tree, parents):
    """The scope of each node.

    Args:
      tree: a libcst Module.
      parents: {node: the node around it}, as of `syntax_trees.parents`.

    Returns:
      {node: libcst Scope}; nodes of layout (white space, commas) are not in it.
    """
    found = _Found(parents)
    visitor = _Scopes(found)
    tree.visit(visitor)
    visitor.infer_accesses()
    return found


class _Found(dict):
    """What the visitor asks of its provider: to keep scopes, and what names are assigned to."""

    def __init__(self, parents):
        super().__init__()
        self._parents = parents

    def set_metadata(self, node, value):
        self[node] = value

    def get_metadata(self, key, node, default=None):
        """The ExpressionContext of a Name: STORE, or None for all that is read."""
        inner, outer = node, self._parents.get(node)
        while isinstance(outer, _IN_TARGET):
            inner, outer = outer, self._parents.get(outer)
        if isinstance(outer, cst.AsName) or (
            isinstance(outer, _WITH_TARGET) and outer.target is inner
        ):
            return metadata.ExpressionContext.STORE
        return None


class _Scopes(scope_provider.ScopeVisitor):
    """Goes to the children itself: libcst would rebuild the node for it."""

    def __init__(self, provider):
        super().__init__(provider)
        self._visits = {}

    def on_visit(self, node):
        kind = type(node)
        if kind not in self._visits:
            self._visits[kind] = getattr(self, "visit_" + kind.__name__, None)
        visit = self._visits[kind]
        if visit is None or visit(node) is not False:
            for child in syntax_trees.children(node):
                self.on_visit(child)
                self.on_leave(child)
        return False
