"""Attributes and results of the values of `tpudist.tools.migrate.resolution.evaluate`."""

import re

import libcst as cst

from tpudist.surfaces.eras import names as era_names
from tpudist.tools.migrate.resolution import imported_values, marks, tensorflow_names
from tpudist.tools.migrate.resolution.module import last_word

_OTHER = frozenset([("other",)])
_UNKNOWN = frozenset([("unknown",)])
#: Attributes that may be a strategy on whatever they are: ``config.train_distribute``.
_STRATEGY = re.compile("strateg|distribut|replicator", re.IGNORECASE)
_OF_CONTAINERS = frozenset(
    """append extend insert remove clear index count sort reverse keys update add discard
    union intersection difference issubset issuperset""".split()
)
#: Of a class below these an attribute is a member, which holds what it was assigned.
_ENUMERATIONS = ("Enum", "Flag", "IntEnum", "IntFlag", "StrEnum")
_LONGEST = 12  # names in a dotted one; x = x.y in a loop makes longer ones


def attribute(evaluator, value, name):
    """The values of an attribute.

    Args:
      evaluator: the `Evaluator`.
      value: one value.
      name: the attribute.

    Returns:
      A frozenset of values.
    """
    kind = value[0]
    if kind == "tf":
        full = era_names.without_compat((value[1] + "." + name).strip("."))
        return frozenset([("tf", full)]) if full.count(".") < _LONGEST else _OTHER
    if kind == "tpudist":
        return imported_values.of_dotted(evaluator, None, value[1] + "." + name)
    if kind == "is":
        inner = tensorflow_names.attribute_of(value[1], name)
        return frozenset([("is", inner) if inner else ("method", value[1], name)])
    if kind == "module":
        return (
            imported_values.of_from(evaluator, value[1], "", 1, name)
            if _is_package(value[1], name)
            else (evaluator.global_values(value[1], name))
        )
    if kind == "unread":
        return imported_values.not_read(value[1])
    if kind in ("class", "object"):
        return evaluator.once((kind, name), value[2], _of_class, evaluator, value, name)
    return _of_other(evaluator, kind, name)


def class_of(values):
    """The values of the classes of objects, a frozenset: ``type(x)`` and ``x.__class__``."""
    found = set()
    for value in values:
        if value == ("is", "strategy"):
            found.add(("tf", "distribute.Strategy"))
        elif value[0] == "object":
            found.add(("class",) + value[1:])
        else:
            found |= _UNKNOWN if value[0] in ("is", "unknown", "unread") else _OTHER
    return frozenset(found)


def _of_other(evaluator, kind, name):
    if kind == "unknown" or kind == "container" and name not in _OF_CONTAINERS:
        return _UNKNOWN
    if _STRATEGY.search(name) or evaluator.codebase.assigns_attribute(name):
        return _UNKNOWN
    return _OTHER


def _is_package(module, name):
    return module.path.endswith("__init__.py") and name not in module.global_scope()


def result(evaluator, value):
    """The values of what calling a value returns, a frozenset."""
    kind = value[0]
    if kind == "tf":
        found = tensorflow_names.result_of(value[1])
        if not found and value[1].startswith("python."):
            return _UNKNOWN  # the table has few names of TensorFlow's own code
        return frozenset([("is", found)]) if found else _OTHER
    if kind == "method":
        found = tensorflow_names.method_result(value[1], value[2])
        return frozenset([("is", found)]) if found else _OTHER
    if kind == "class":
        return frozenset([("object",) + value[1:]])
    if kind == "function":
        return evaluator.once("returned", value[2], _returned, evaluator, *value[1:3])
    return _UNKNOWN if kind in ("unknown", "unread") else _OTHER


def _returned(evaluator, module, function):
    if isinstance(function, cst.Lambda):
        return evaluator.values(module, function.body)
    found, kind = set(), module.said_kind(function.name)
    if kind:
        return _OTHER if kind == marks.OTHER else frozenset([("is", kind)])
    if function.asynchronous is not None:
        return _UNKNOWN
    for decorator in function.decorators:
        if last_word(decorator.decorator) not in (
            "staticmethod",
            "classmethod",
            "property",
            "lru_cache",
            "cache",
        ):
            return _UNKNOWN
    returned = [node for node in module.nodes.returns.get(function, ()) if not _is_none(node)]
    for node in returned:
        found |= evaluator.values(module, node)
    return frozenset(found) if returned else _OTHER


def _is_none(node):
    return node is None or type(node) is cst.Name and node.value == "None"


def is_strategy(evaluator, module, class_node):
    """Whether a class of the code base is below a strategy class of TensorFlow."""
    return any(
        value[0] == "tf" and tensorflow_names.is_strategy_class(value[1])
        for _, base in _lineage(evaluator, module, class_node)
        for value in base
    )


def inherits(evaluator, value, name):
    """Whether an "object" has a member from a strategy class of TensorFlow, not from its own."""
    kind, module, node = value
    return (
        kind == "object"
        and is_strategy(evaluator, module, node)
        and not any(
            name in _assignments(where, owner)
            for (where, owner), _ in _lineage(evaluator, module, node)
        )
    )


def _lineage(evaluator, module, class_node, seen=()):
    """((module, class node), base values) of a class and of all above it."""
    for argument in class_node.bases:
        base = evaluator.values(module, argument.value)
        yield (module, class_node), base
        for value in base:
            if value[0] == "class" and value[2] not in seen:
                yield from _lineage(evaluator, value[1], value[2], seen + (class_node,))
    if not class_node.bases:
        yield (module, class_node), frozenset()


def _of_class(evaluator, value, name):
    kind, module, node = value
    found, defined = set(), False
    for (where, owner), _ in list(_lineage(evaluator, module, node)):
        inner = _own(evaluator, where, owner, name, kind == "object")
        defined = defined or inner is not None
        found |= inner or set()
        if any(last_word(base.value) in _ENUMERATIONS for base in owner.bases):
            found = found & _OTHER or _UNKNOWN
    if defined:
        return frozenset(found)
    if kind == "object" and is_strategy(evaluator, module, node):
        return attribute(evaluator, ("is", "strategy"), name)
    return _UNKNOWN


def _own(evaluator, module, owner, name, bound):
    """The values of an attribute that a class sets itself; None if it does not."""
    found, defined = set(), False
    for target in _assignments(module, owner).get(name, ()):
        defined = True
        if isinstance(target, cst.ClassDef):
            found.add(("class", module, target))
        elif isinstance(target, cst.FunctionDef):
            decorators = [last_word(each.decorator) for each in target.decorators]
            if "property" in decorators or "cached_property" in decorators:
                found |= result(evaluator, ("function", module, target, bound))
            else:
                found.add(("function", module, target, bound and "staticmethod" not in decorators))
        else:
            found |= evaluator.target(module, target)
    if any(value[0] == "object" and _is_descriptor(evaluator, *value[1:]) for value in found):
        found |= _UNKNOWN
    return found if defined else None


def _is_descriptor(evaluator, module, class_node):
    """Whether an attribute that is an instance of a class is what that makes of it."""
    return any(
        "__get__" in _assignments(where, owner)
        for (where, owner), _ in _lineage(evaluator, module, class_node)
    )


def own_names(module, owner):
    """The attributes that a class and its methods set, in the order of the source."""
    return list(_assignments(module, owner))


def _assignments(module, owner):
    """{attribute: [targets and functions]} of a class: its own, and ``self.x = ``."""
    if module.class_attributes is None:
        module.class_attributes = _of_classes(module)
    return module.class_attributes.get(id(owner), {})


def _of_classes(module):
    """{id of a class: what `_assignments` says of it} of all classes of a module."""
    every = {}
    for node in module.nodes.definitions:
        owner, method = _owner(module, node)
        if owner is None:
            continue
        found, kind = every.setdefault(id(owner), {}), type(node)
        if kind is cst.ClassDef or kind is cst.FunctionDef:
            if method is None:
                found.setdefault(node.name.value, []).append(node)
            continue
        parameters = () if method is None else method.params.params
        self_name = parameters[0].name.value if parameters else "" if method else None
        for target in _flat(node.target):
            _take(target, self_name, found)
    return every


def _owner(module, node):
    """(the class that a definition is in, its method that it is in); None if there is none."""
    method, parent = None, module.parent
    node = parent(node)
    while node is not None and type(node) is not cst.ClassDef:
        if type(node) is cst.FunctionDef:
            method = node
        node = parent(node)
    return node, method


def _flat(target):
    elements = target.elements if type(target) in (cst.Tuple, cst.List) else ()
    return [target] + [each.value for each in elements]


def _take(target, self_name, found):
    if self_name is None and type(target) is cst.Name:
        found.setdefault(target.value, []).append(target)
    if self_name and type(target) is cst.Attribute and last_word(target.value) == self_name:
        found.setdefault(target.attr.value, []).append(target)
