"""What is in a container, and what a loop over one gives: the cases that are certain.

Tuples, lists, dicts and comprehensions that are written out where they are
made. A list or dict in a variable counts only if all that is done to the
variable in its file is seen here: reading it, ``append``, ``x[key] = value``.
"""

import libcst as cst

UNKNOWN = frozenset([("unknown",)])

_SEQUENCES = (cst.Tuple, cst.List, cst.Set)
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp)
#: Methods and functions that only read a container.
_READS = ("get", "items", "keys", "values", "index", "count", "copy")
_READERS = ("enumerate", "zip", "len", "iter", "reversed", "tuple", "sorted", "print", "isinstance")


def elements(evaluator, module, node):
    """What a loop over an expression gives one after the other.

    Args:
      evaluator: the `Evaluator`.
      module: the `Module` of the expression.
      node: the libcst expression that is looped over.

    Returns:
      A frozenset of values.
    """
    name, argument = _reader(module, node)
    if name in ("iter", "reversed", "tuple", "sorted"):
        return elements(evaluator, module, argument)
    if name == "values":
        return _inside(evaluator, evaluator.values(module, argument), _entries)
    return _inside(evaluator, evaluator.values(module, node), _elements)


def unpacked(evaluator, module, node, index):
    """As `elements`, of ``for a, b in node``: what the name at an index gets."""
    name, argument = _reader(module, node)
    if name == "enumerate" and index == 1:
        return elements(evaluator, module, argument)
    if name == "zip" and index < len(node.args) and not any(each.star for each in node.args):
        return elements(evaluator, module, node.args[index].value)
    if name == "items" and index == 1:
        return _inside(evaluator, evaluator.values(module, argument), _entries)
    found = set()
    for value in elements(evaluator, module, node):
        found |= at(evaluator, value, index) if value[0] == "container" else UNKNOWN
    return frozenset(found) or UNKNOWN


def item(evaluator, module, node):
    """What a Subscript of a container gives: the element that is named, else any.

    Args:
      evaluator: the `Evaluator`.
      module: the `Module` of the expression.
      node: the libcst Subscript.

    Returns:
      A frozenset of values.
    """
    index = node.slice[0].slice if len(node.slice) == 1 else None
    if not isinstance(index, cst.Index):
        return UNKNOWN
    key, found = _constant(index.value), set()
    for value in evaluator.values(module, node.value):
        if value[0] != "container":
            found |= UNKNOWN
        elif isinstance(value[2], cst.Dict):
            found |= _entries(evaluator, value[1], value[2], key) | _added(evaluator, *value[1:])
        elif isinstance(key, int):
            found |= at(evaluator, value, key)
        else:
            found |= _inside(evaluator, [value], _elements)
    return frozenset(found) or UNKNOWN


def _reader(module, node):
    """(name, argument) of ``enumerate(x)`` or ``x.values()``; ("", None) of anything else."""
    if type(node) is not cst.Call:
        return "", None
    if type(node.func) is cst.Attribute and not node.args:
        return node.func.attr.value, node.func.value
    if (
        type(node.func) is cst.Name
        and node.args
        and not node.args[0].star
        and all(
            type(each).__name__ == "BuiltinAssignment"
            for each in module.scope(node)[node.func.value]
        )
    ):
        return node.func.value, node.args[0].value
    return "", None


def _inside(evaluator, values, parts):
    found = set()
    for value in values:
        if value[0] == "container":
            found |= parts(evaluator, *value[1:]) | _added(evaluator, *value[1:])
        else:
            found |= UNKNOWN
    return frozenset(found) or UNKNOWN


def _elements(evaluator, module, node):
    if isinstance(node, _COMPREHENSIONS):
        return evaluator.values(module, node.elt)
    if not isinstance(node, _SEQUENCES):
        return frozenset([("other",)])  # the keys of a dict
    return evaluator.once("elements", node, _in_sequence, evaluator, module, node)


def _in_sequence(evaluator, module, node):
    found = set()
    for each in node.elements:
        inside = isinstance(each, cst.StarredElement)
        found |= (
            elements(evaluator, module, each.value)
            if inside
            else evaluator.values(module, each.value)
        )
    return found


def _entries(evaluator, module, node, key=None):
    """The values of a dict, of those with a constant key if that is known."""
    if isinstance(node, cst.DictComp):
        return evaluator.values(module, node.value)
    if not isinstance(node, cst.Dict):
        return UNKNOWN
    found = set()
    for each in node.elements:
        if isinstance(each, cst.StarredDictElement):
            found |= UNKNOWN
        elif key is None or _constant(each.key) in (None, key):
            found |= evaluator.values(module, each.value)
    return found


def at(evaluator, value, index):
    """The values of the element at an index.

    Args:
      evaluator: the `Evaluator`.
      value: a value of the kind "container".
      index: an int, negative from the end.

    Returns:
      A frozenset of values.
    """
    module, node = value[1:]
    if not isinstance(node, (cst.Tuple, cst.List)) or any(
        isinstance(each, cst.StarredElement) for each in node.elements
    ):
        return _inside(evaluator, [value], _elements)
    if isinstance(node, cst.List) and (_added(evaluator, module, node)):
        return _inside(evaluator, [value], _elements)
    if -len(node.elements) <= index < len(node.elements):
        return evaluator.values(module, node.elements[index].value)
    return UNKNOWN


def _constant(node):
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = _constant(node.expression)
        return -inner if isinstance(inner, int) else None
    if isinstance(node, cst.Integer):
        return node.evaluated_value
    return node.evaluated_value if isinstance(node, cst.SimpleString) else None


def _added(evaluator, module, node):
    """What is put into a container after it was made; unknown if that is not seen."""
    return evaluator.once("added", node, _put_in, evaluator, module, node)


def _put_in(evaluator, module, node):
    if isinstance(node, (cst.Tuple, cst.GeneratorExp)):
        return frozenset()
    assign = module.parent(node)
    if not isinstance(assign, (cst.Assign, cst.AnnAssign)):
        read = isinstance(assign, (cst.For, cst.CompFor, cst.Subscript, cst.Arg, cst.Attribute))
        return frozenset() if read else UNKNOWN
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else assign.target
    if not isinstance(target, cst.Name) or len(getattr(assign, "targets", [0])) != 1:
        return UNKNOWN
    found = set()
    for assignment in module.scope(assign)[target.value]:
        for access in assignment.references:
            found |= _access(evaluator, module, access.node)
    return frozenset(found) | (UNKNOWN if _is_shared(evaluator, module, target) else frozenset())


def _is_shared(evaluator, module, target):
    """Whether a name is a module's own, that another file mentions: it may add to it."""
    if module.scope(target) is not module.global_scope():
        return False
    others = evaluator.codebase.mentioning(target.value, "import")
    return any(path != module.path for path in others)


def _access(evaluator, module, node):
    """What one access to a container's name puts into it."""
    name = node.value if isinstance(node, cst.Attribute) else node
    while isinstance(name, cst.Attribute):
        name = name.value
    parent = module.parent(name)
    outer = module.parent(parent)
    if isinstance(parent, cst.Subscript):
        if isinstance(outer, cst.AssignTarget):
            return evaluator.values(module, module.parent(outer).value)
        return UNKNOWN if isinstance(outer, (cst.AugAssign, cst.Del)) else frozenset()
    if isinstance(parent, cst.Attribute) and isinstance(outer, cst.Call):
        if parent.attr.value == "append" and len(outer.args) == 1:
            return evaluator.values(module, outer.args[0].value)
        return frozenset() if parent.attr.value in _READS else UNKNOWN
    if isinstance(parent, cst.Arg) and _reader(module, outer)[0] in _READERS:
        return frozenset()
    reads = (cst.For, cst.CompFor, cst.ComparisonTarget, cst.If, cst.IfExp)
    return frozenset() if isinstance(parent, reads) else UNKNOWN
