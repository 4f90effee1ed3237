"""Walking a libcst tree without rebuilding it, which a libcst visitor does.

White space, commas and parentheses are left out: no name is in them.
"""

import dataclasses

import libcst as cst

_LAYOUT = (
    "whitespace",
    "leading_lines",
    "leading_whitespace",
    "lines_after",
    "header",
    "footer",
    "trailing",
    "comma",
    "semicolon",
    "equal",
    "dot",
    "lpar",
    "rpar",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
    "colon",
    "first_colon",
    "second_colon",
    "indent",
    "encoding",
    "default_",
    "has_trailing",
    "operator",
    "relative",
    "asynchronous",
)
#: The order in the source, where a class declares its parts in another one.
_SOURCE_ORDER = {
    "Arg": ("keyword", "value"),
    "ClassDef": ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    "ExceptHandler": ("type", "name", "body"),
    "ExceptStarHandler": ("type", "name", "body"),
    "FunctionDef": ("decorators", "name", "type_parameters", "params", "returns", "body"),
    "IfExp": ("body", "test", "orelse"),
    "MatchCase": ("pattern", "guard", "body"),
    "Parameters": ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
    "TypeAlias": ("name", "type_parameters", "value"),
}
#: What holds no nodes but layout.
_LEAVES = frozenset(
    """Asynchronous Break Continue Ellipsis Float ImportStar Imaginary Integer Name ParamStar Pass
    SimpleString""".split()
)
#: The classes that most nodes are of: what their fields hold, ``*`` for a list. Theirs is
#: never absent, so that it need not be looked at.
_PLAIN = {
    "Assign": "*targets value", "AssignTarget": "target", "Attribute": "value attr",
    "BinaryOperation": "left right", "BooleanOperation": "left right", "Call": "func *args",
    "Comparison": "left *comparisons", "ComparisonTarget": "comparator", "Dict": "*elements",
    "DictElement": "key value", "Element": "value", "Expr": "value", "IndentedBlock": "*body",
    "Index": "value", "List": "*elements", "SimpleStatementLine": "*body", "Subscript":
    "value *slice", "SubscriptElement": "slice", "Tuple": "*elements",
}  # fmt: skip
#: Nothing is below these.
LEAVES = frozenset(getattr(cst, name) for name in _LEAVES if hasattr(cst, name))
_getters, _layout_getters, _is_node = {}, {}, {}


def children(node, layout=False):
    """The nodes directly below a node, in the order of the source.

    Args:
      node: a libcst node.
      layout: whether white space and the like are wanted too, in any order.
    """
    kind = type(node)
    if not layout:
        plain = _plain.get(kind)
        if plain is not None:
            return plain(node)
    getters = _layout_getters if layout else _getters
    if kind not in getters:
        getters[kind] = _getter(kind, layout)
    found = []
    for value in getters[kind](node):
        held = type(value)
        if held is list or held is tuple:
            found += value
        elif _is_node[held] if held in _is_node else _node(held):
            found.append(value)
    return found


def _getter(kind, layout):
    """A function from a node of a class to what its fields hold."""
    names = () if not layout and kind.__name__ in _LEAVES else _parts(kind, layout)
    space = {}
    exec("def get(node):\n    return (%s)" % "".join("node.%s, " % name for name in names), space)
    return space["get"]


def _all_of(fields):
    """A function from a node to a list of what some fields hold."""
    values = ["%snode.%s" % ("*" * each.startswith("*"), each.lstrip("*")) for each in fields]
    return eval("lambda node: [%s]" % ", ".join(values))


_plain = {getattr(cst, name): _all_of(fields.split()) for name, fields in _PLAIN.items()}
_plain.update(dict.fromkeys(LEAVES, lambda node: []))


def _parts(kind, layout):
    """The names of a class's fields that may hold nodes, in the order of the source."""
    names = [each.name for each in dataclasses.fields(kind)]
    if layout:
        return tuple(names)
    order = _SOURCE_ORDER.get(kind.__name__, names)
    return tuple(name for name in order if name in names and not name.startswith(_LAYOUT))


def _node(kind):
    """Whether objects of a class are nodes; ``isinstance`` of an abstract class is slow."""
    _is_node[kind] = issubclass(kind, cst.CSTNode)
    return _is_node[kind]


def below(node):
    """A node and all nodes below it, each before what is below it."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(reversed(children(node)))
