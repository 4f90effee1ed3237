"""Evaluates imports: names of TensorFlow, of the code base, or of other readable modules."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Iterator

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.surfaces.eras.local_names import joined
from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.fixed_point import OTHER, UNKNOWN, Values
from tpudist.tools.migrate.resolution.module import Module, is_star
from tpudist.tools.migrate.resolution.scopes import Binding

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.evaluate import Evaluator


#: Those of them that carry modules of contrib on.
_CARRYING = ("tf_slim", "tensorflow_probability")

_NAMES = (
    *surfaces.GONE_TODAY,
    *surfaces.RENAMED_TODAY,
    *surfaces.KERAS_OPTIMIZERS,
    *surfaces.KERAS_REFUSES,
)
#: Names that the rules ask for, and their modules: ``from tensorflow.x import *`` may bind them.
_STARRED = frozenset([*_NAMES, *(name.rpartition(".")[0] for name in _NAMES)])


def of_import(evaluator: Evaluator, module: Module, binding: Binding) -> Values:
    """The values that an import statement of a module gives a name."""
    node = binding.node
    for alias in node.names:
        bound = alias.asname or alias.name
        if type(node) is ast.Import and bound.split(".")[0] == binding.name:
            return of_dotted(evaluator, module, alias.name if alias.asname else binding.name)
        if type(node) is ast.ImportFrom and bound == binding.name:
            return of_from(evaluator, module, node.module or "", node.level, alias.name)
    return UNKNOWN


def of_dotted(evaluator: Evaluator, module: Module | None, full: str) -> Values:
    """The values of the module that ``import full`` gives."""
    below = tensorflow_names.spelled_below(full)
    if below is not None:
        is_v1 = module is not None and evaluator.wants_v1(module.path)
        return frozenset([tensorflow_names.value(below, is_v1)])
    if full.split(".")[0] == "tpudist":
        return frozenset([("tpudist", full)])
    return _module(evaluator, module, full, 0) or of_package(full)


def of_package(full: str) -> Values:
    """The values of a name of a package that is not read; of contrib if it is not carried on."""
    package, _, name = full.partition(".")
    last = name.rpartition(".")[2]
    old = leads.not_carried().get(full)
    if package == "tf_slim" and last in surfaces.SLIM_ENDED:
        old = "contrib.slim." + name if name.startswith("nets.") else "contrib.layers." + last
    return frozenset([("unread", full) if old is None else tensorflow_names.value(old)])


def of_from(evaluator: Evaluator, module: Module, base: str, level: int, name: str) -> Values:
    """The values that ``from base import name`` gives, with `level` leading dots."""
    if not level and base.split(".")[0] in ("tensorflow", "tpudist"):
        return of_dotted(evaluator, module, base + "." + name)
    inner = _module(evaluator, module, (base + "." + name).strip("."), level)
    path = _find(evaluator, module, base, level)
    if path is None:
        return inner or (UNKNOWN if level else member_of_package(base, name))
    other = evaluator.codebase.module(path)
    if other is None:
        return inner or UNKNOWN
    if other is module:
        return inner
    found = evaluator.global_values(other, name)
    return inner if inner and found == UNKNOWN else found


def star_imports(evaluator: Evaluator, module: Module) -> Iterator[str]:
    """Paths of the files that ``from x import *`` statements of a module mean."""
    for node in module.imports:
        if is_star(node):
            path = _find(evaluator, module, node.module or "", node.level)
            if path is not None and path != module.path:
                yield path


def starred(module: Module, name: str) -> Values:
    """The values that a name may have by ``from tensorflow.a import *``."""
    found = set()
    for node in module.imports:
        below = tensorflow_names.spelled_below(node.module) if is_star(node) else None
        if below is not None and not node.level:
            found.add(tensorflow_names.value(joined(below, name)))
    return frozenset(
        value
        for value in found
        if value[1] in tensorflow_names.FIRST_WORDS
        or "." in value[1]
        and (leads.gone_today(value[1]) is not None or value[1] in _STARRED)
    )


def _find(evaluator: Evaluator, module: Module | None, full: str, level: int) -> str | None:
    """The path of a module: in the code base, or outside if it may matter; or None."""
    codebase = evaluator.codebase
    importer = module.path if module is not None else ""
    path = codebase.find_module(full, level, importer)
    if path is None and (level or not is_known(full)):
        path = codebase.find_outside(full, level, importer)
    return path


def _module(evaluator: Evaluator, module: Module | None, full: str, level: int) -> Values:
    """The module of that name, in a set; empty if there is no file of it."""
    path = _find(evaluator, module, full, level)
    if path is None:
        return frozenset()
    other = evaluator.codebase.module(path)
    return frozenset([("module", other)]) if other else UNKNOWN


def is_known(full: str) -> bool:
    """Whether a package is one of those that are not read."""
    known = (surfaces.HANDING_ON, surfaces.WITHOUT_STRATEGIES, ("tensorflow",))
    pythons = getattr(sys, "stdlib_module_names", surfaces.PYTHONS)  # before 3.10 there is no list
    return any(full.split(".")[0] in each for each in (*known, pythons))


def member_of_package(full: str, name: str) -> Values:
    """The values of a name of a module without a file, or with one that is not read."""
    if full.partition(".")[0] in _CARRYING:
        return of_package("%s.%s" % (full, name))
    return OTHER if is_known(full) and full.split(".")[0] not in surfaces.HANDING_ON else UNKNOWN
