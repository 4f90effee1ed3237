"""The scopes of a tree, as libcst's ``ScopeProvider`` finds them, in a fifth of its time.

libcst has a tree rebuilt, white space included, by every visitor that looks at
it, and its metadata wrapper has it walked once more for each provider. Here are
its own two visitors, on the walk of `tpudist.migrate.walk`.
"""

from libcst import metadata
from libcst.metadata import expression_context_provider
from libcst.metadata import scope_provider

from tpudist.migrate import walk


def scopes(tree):
    """The scope of each node.

    Args:
      tree: a libcst Module.

    Returns:
      {node: libcst Scope}; nodes of layout (white space, commas) are not in it.
    """
    contexts = _Found({})
    tree.visit(_Contexts(contexts, metadata.ExpressionContext.LOAD))
    found = _Found(contexts)
    visitor = _Scopes(found)
    tree.visit(visitor)
    visitor.infer_accesses()
    return found


class _Found(dict):
    """What a visitor asks of its provider: to keep what it finds, and what another found."""

    def __init__(self, earlier):
        super().__init__()
        self._earlier = earlier

    def set_metadata(self, node, value):
        self[node] = value

    def get_metadata(self, key, node, default=None):
        return self._earlier.get(node, default)


class _Walking:
    """A visitor that goes to the children itself: libcst would rebuild the node for it."""

    def on_visit(self, node):
        if super().on_visit(node):
            for child in walk.children(node):
                child.visit(self)
        return False


class _Contexts(_Walking, expression_context_provider.ExpressionContextVisitor):
    pass


class _Scopes(_Walking, scope_provider.ScopeVisitor):
    pass
