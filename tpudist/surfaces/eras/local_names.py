"""Finds what the local names of a file stand for: modules and names of TensorFlow, strategies."""

from __future__ import annotations

import ast
import re
from typing import Any, Mapping

from tpudist import surfaces
from tpudist.surfaces.eras import walks

#: What makes a strategy: a class, or ``get_strategy`` and its kin.
_STRATEGY = re.compile("Strategy(V[12])?$|get_(distribution_)?strategy$")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_NAMING = (ast.Call, ast.Name, ast.Attribute)


class Bindings:
    """The local names of a file that stand for TensorFlow, one of its modules, or a strategy.

    `imported` are those, as in `tensorflow`, that the file imports from other files of the program;
    its imports of TensorFlow come first.

    Attributes:
      tensorflow: {name, or ".attribute": the dotted name below ``tf`` that it is}.
      strategies: names that are assigned strategies.
      starred: (dotted name, line) of those of ``from tensorflow import *``.
      dotted_names: {Name or Attribute: the dotted name below ``tf`` that it is}.
    """

    def __init__(self, nodes: walks.Nodes, imported: Mapping[str, str] | None = None) -> None:
        self.tensorflow: dict[str, str] = dict(imported or {})
        self.strategies: set[str] = set()
        self.starred: list[tuple[str, int]] = []
        for node in sorted(nodes.of(*walks.IMPORTS), key=_place):
            (self._import if type(node) is ast.Import else self._import_from)(node)
        others = [node for node in nodes.of(ast.Assign) if type(node.value) in _NAMING]
        others += nodes.of(*_FUNCTIONS)
        for node in sorted(others, key=_place):
            (self._assign if type(node) is ast.Assign else self._default)(node)
        if "*" in self.tensorflow:
            self._star(nodes, self.tensorflow.pop("*"))
        self.dotted_names = self._dotted_names(nodes) if self.tensorflow else {}

    def _star(self, nodes: walks.Nodes, full: str) -> None:
        """Resolves ``from tensorflow import *`` to names that nothing else in the file binds."""
        loaded = nodes.of(ast.Name)
        bound = {node.id for node in loaded if not isinstance(node.ctx, ast.Load)}
        bound |= {getattr(node, "name", getattr(node, "arg", None)) for node in nodes.every()}
        start = full.rpartition("*")[0]
        for node in loaded:
            if node.id not in bound and node.id not in self.tensorflow:
                self.starred.append((start + node.id, node.lineno))
        self.tensorflow.update((dotted.rpartition(".")[2], dotted) for dotted, _ in self.starred)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            below = below_tensorflow(alias.name)
            if below is not None and alias.asname:
                self.tensorflow[alias.asname] = below
            elif alias.name.partition(".")[0] == "tensorflow":
                self.tensorflow["tensorflow"] = ""

    def _import_from(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            below = None if node.level else below_tensorflow(joined(node.module, alias.name))
            if below is not None:
                self.tensorflow[alias.asname or alias.name] = below

    def _assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Call) and _STRATEGY.search(walks.last_word(node.value.func)):
            self.strategies.update(walks.last_word(target) for target in node.targets)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._stands_for(target.id, node.value)
            elif isinstance(target, ast.Attribute):
                self._stands_for("." + target.attr, node.value)

    def _default(self, node: ast.FunctionDef) -> None:
        arguments = node.args
        ordered = (
            getattr(arguments, "posonlyargs", []) + arguments.args
        )  # Python 3.7 has none of these
        pairs = list(zip(reversed(ordered), reversed(arguments.defaults)))
        for argument, value in pairs + list(zip(arguments.kwonlyargs, arguments.kw_defaults)):
            self._stands_for(argument.arg, value)  # of a keyword without default: None

    def _stands_for(self, name: str, value: object) -> None:
        """Records a name, or ".attribute", whose value is a module."""
        module = self._dotted(value)
        if module in surfaces.CONTRIB_NAMES or module in surfaces.first_modules():
            self.tensorflow.setdefault(name, module)

    def _dotted_names(self, nodes: walks.Nodes) -> dict[Any, str]:
        found = {
            node: self.tensorflow[node.id]
            for node in nodes.of(ast.Name)
            if node.id in self.tensorflow
        }
        for node in reversed(nodes.of(ast.Attribute)):  # of ``a.b.c`` that of ``a.b`` comes last
            if node.value in found:
                found[node] = joined(found[node.value], node.attr)
            elif "." + node.attr in self.tensorflow:
                found[node] = self.tensorflow["." + node.attr]
        return found

    def _dotted(self, node: object) -> str | None:
        """The dotted name below ``tf`` of ``a.b.c``, None if no part of it is TensorFlow's."""
        words: list[str] = []
        held = None
        while isinstance(node, ast.Attribute):
            if "." + node.attr in self.tensorflow:
                held = joined(self.tensorflow["." + node.attr], *words[::-1])
            words.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.tensorflow:
            return held
        return joined(self.tensorflow[node.id], *words[::-1])


def below_tensorflow(full: str) -> str | None:
    """The dotted name below ``tf`` that a full name means, or None."""
    parts = full.split(".")
    if parts[0] == "tensorflow":
        return ".".join(parts[2:] if parts[1:2] == ["google"] else parts[1:])
    if parts[0] == "tpudist" and len(parts) > 2 and parts[1] in surfaces.ERAS:
        return ".".join(parts[3:]) if parts[2] == "tensorflow" else None
    return None


def _place(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def joined(*parts: str | None) -> str:
    """Joins dotted names with dots, without those that are "" or None."""
    return ".".join(part for part in parts if part)
