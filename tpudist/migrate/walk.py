"""Walking a libcst tree without rebuilding it, which a libcst visitor does.

White space, commas and parentheses are left out: no name is in them.
"""

import dataclasses

import libcst as cst

_LAYOUT = ("whitespace", "leading_lines", "lines_after", "header", "footer", "trailing",
           "comma", "semicolon", "equal", "dot", "lpar", "rpar", "lbracket", "rbracket",
           "lbrace", "rbrace", "colon", "indent", "encoding", "default_", "has_trailing",
           "operator", "relative")
_fields = {}


def children(node):
    """The nodes directly below a node, in the order of the source."""
    kind = type(node)
    if kind not in _fields:
        _fields[kind] = tuple(each.name for each in dataclasses.fields(kind)
                              if not each.name.startswith(_LAYOUT))
    found = []
    for name in _fields[kind]:
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(each for each in value if isinstance(each, cst.CSTNode))
    return found


def parents(tree):
    """{node: the node around it} of all nodes below a tree."""
    found, todo = {}, [tree]
    while todo:
        node = todo.pop()
        inner = children(node)
        for each in inner:
            found[each] = node
        todo.extend(inner)
    return found


def below(node):
    """A node and all nodes below it, each before what is below it."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(reversed(children(node)))
