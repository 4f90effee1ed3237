"""Attributes and results of the values of `tpudist.tools.migrate.resolution.evaluate`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Iterator

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution import imported_values, tensorflow_names
from tpudist.tools.migrate.resolution.fixed_point import OTHER, UNKNOWN, Values
from tpudist.tools.migrate.resolution.module import FUNCTIONS, Module, is_none

if TYPE_CHECKING:
    from typing import Iterable

    from tpudist.tools.migrate.resolution.evaluate import Evaluator

#: Attributes that may be a strategy on whatever they are: ``config.train_distribute``.
_STRATEGY = re.compile("strateg|distribut|replicator", re.IGNORECASE)
#: Decorators of functions that return what they did without them.
_TRANSPARENT = ("staticmethod", "classmethod", "property", "lru_cache", "cache")
_LONGEST = 12  # names in a dotted one; x = x.y in a loop makes longer ones


def attribute(evaluator: Evaluator, value: tuple[Any, ...], name: str) -> Values:
    """The values of an attribute of one value."""
    kind = value[0]
    if name == "__class__":
        return UNKNOWN
    if kind == "tf":
        full = (value[1] + "." + name).strip(".")
        is_short = full.count(".") < _LONGEST
        full = leads.not_carried().get("tensorflow.compat.v1." + full, full)
        return frozenset([tensorflow_names.value(full, value[2])]) if is_short else OTHER
    if kind == "tpudist":
        return imported_values.of_dotted(evaluator, None, value[1] + "." + name)
    if kind == "is":
        inner = surfaces.ATTRIBUTES.get((value[1], name))
        return frozenset([("is", inner) if inner else ("method", value[1], name)])
    if kind == "module":
        if value[1].path.endswith("__init__.py") and not value[1].global_scope()[name]:
            return imported_values.of_from(evaluator, value[1], "", 1, name)
        return evaluator.global_values(value[1], name)
    if kind == "unread":
        return imported_values.member_of_package(value[1], name)
    if kind in ("class", "object"):
        return evaluator.once((kind, name), value[2], _of_class, evaluator, value, name)
    return UNKNOWN if kind == "unknown" or _STRATEGY.search(name) else OTHER


def result(evaluator: Evaluator, value: tuple[Any, ...]) -> Values:
    """The values of what calling a value returns."""
    kind = value[0]
    if kind == "tf":
        found = tensorflow_names.result_of(value[1])
        if not found and value[1].startswith("python."):
            return UNKNOWN  # the table has few names of TensorFlow's own code
        return frozenset([("is", found)]) if found else OTHER
    if kind == "method":
        found = surfaces.METHODS.get(value[1:])
        return frozenset([("is", found)]) if found else OTHER
    if kind == "class":
        return frozenset([("object", *value[1:])])
    if kind == "function":
        return evaluator.once("returned", value[2], _returned, evaluator, *value[1:3])
    return UNKNOWN if kind in ("unknown", "unread") else OTHER


def _returned(evaluator: Evaluator, module: Module, function: Any) -> Iterable[Any]:
    if type(function) is ast.Lambda:
        return evaluator.values(module, function.body)
    said = module.marks.values(function.lineno)
    if said is not None:
        return said
    decorators = {last_word(getattr(each, "func", each)) for each in function.decorator_list}
    if type(function) is ast.AsyncFunctionDef or not decorators.issubset(_TRANSPARENT):
        return UNKNOWN
    returned = [each for each in module.returns[function] if each and not is_none(each)]
    return set().union(*[evaluator.values(module, each) for each in returned]) or (
        frozenset() if returned else OTHER
    )


def kind_of(evaluator: Evaluator, module: Module, class_node: ast.ClassDef) -> str:
    """The kind of a user's class, such as "layer", by the TensorFlow class above it."""
    bases = [base for _, base in _lineage(evaluator, module, class_node)]
    kinds = (tensorflow_names.result_of(v[1]) for base in bases for v in base if v[0] == "tf")
    return next(filter(None, kinds), "")


def inherits(evaluator: Evaluator, value: tuple[Any, ...], name: str) -> str:
    """The kind from which an "object" has a member; "" if it has it from its own classes."""
    if value[0] != "object":
        return ""
    _, module, node = value
    lineage = _lineage(evaluator, module, node)
    is_own = any(name in assignments(where, owner) for (where, owner), _ in lineage)
    return "" if is_own else kind_of(evaluator, module, node)


def kinds(evaluator: Evaluator, values: Values, name: str = "") -> set[str]:
    """The kinds, such as "model", that an object may be of and that have the named member."""
    found = {value[1] for value in values if value[0] == "is"}
    return found.union(inherits(evaluator, value, name) for value in values) - {""}


def computes(evaluator: Evaluator, value: tuple[Any, ...]) -> bool:
    """Whether calling a value on the output of a layer gives another one: a layer, an op."""
    if value[0] == "tf":
        return tensorflow_names.result_of(value[1]) is None
    return not kinds(evaluator, frozenset([value])).isdisjoint(("layer", "model"))


def _lineage(
    evaluator: Evaluator, module: Module, class_node: ast.ClassDef, seen: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Module, ast.ClassDef], Values]]:
    """((module, class), base values) of a class and of all above it."""
    for each in class_node.bases:
        base = evaluator.values(module, each)
        yield (module, class_node), base
        for value in base:
            if value[0] == "class" and value[2] not in seen:
                yield from _lineage(evaluator, value[1], value[2], (*seen, class_node))
    if not class_node.bases:
        yield (module, class_node), frozenset()


def _of_class(evaluator: Evaluator, value: tuple[Any, ...], name: str) -> Iterable[Any]:
    kind, module, node = value
    found: Any = set()
    defined = False
    for (where, owner), _ in list(_lineage(evaluator, module, node)):
        inner = _own(evaluator, where, owner, name, kind == "object")
        defined = defined or inner is not None
        found |= inner or set()
    if defined:
        return found
    above = kind_of(evaluator, module, node) if kind == "object" else ""
    return attribute(evaluator, ("is", above), name) if above else UNKNOWN


def _own(
    evaluator: Evaluator, module: Module, owner: ast.ClassDef, name: str, bound: bool
) -> set[Any] | None:
    """The values of an attribute that a class sets itself; None if it does not."""
    found: set[Any] = set()
    targets = assignments(module, owner).get(name, ())
    for target in targets:
        if type(target) is ast.ClassDef:
            found.add(("class", module, target))
        elif type(target) in FUNCTIONS:
            decorators = [last_word(each) for each in target.decorator_list]
            if "property" in decorators or "cached_property" in decorators:
                found |= result(evaluator, ("function", module, target, bound))
            else:
                found.add(("function", module, target, bound and "staticmethod" not in decorators))
        elif type(target) in (ast.Import, ast.ImportFrom):
            scope = module.scope(target)
            for binding in scope[name]:
                found |= evaluator.bound(module, binding)
        else:
            found |= evaluator.target(module, target)
    return found if targets else None


def assignments(module: Module, owner: ast.ClassDef) -> dict[str, list[Any]]:
    """{attribute: targets, functions and imports} of a class: its own, and ``self.x = ``."""
    if owner in module.class_attributes:
        return module.class_attributes[owner]
    found: dict[str, list[Any]] = module.class_attributes.setdefault(owner, {})
    for binding in module.scope(owner.body[0]).bindings:
        found.setdefault(binding.name, []).append(binding.node)
    for method in owner.body:
        if isinstance(method, FUNCTIONS) and method.args.args:
            own = method.args.args[0].arg
            for node in walks.nodes(method).of(ast.Attribute):
                if type(node.ctx) is ast.Store and getattr(node.value, "id", None) == own:
                    found.setdefault(node.attr, []).append(node)
    return found
