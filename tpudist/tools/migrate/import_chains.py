"""Finds the names of TensorFlow that a file imports from other files of its code base.

``from common import tf``, ``from common import *``, and ``common.tf`` of a module that is imported.
"""

from __future__ import annotations

import ast
from typing import Callable, Dict, Mapping, Tuple

from tpudist.surfaces.eras import local_names, walks
from tpudist.surfaces.eras.local_names import joined

#: {name: (what it is below ``tf``, the file that imports it from TensorFlow)}. A name is "name",
#: ".attribute" of whatever object, or "*" for every name of a module of TensorFlow.
Names = Dict[str, Tuple[str, str]]


def imported(
    nodes: walks.Nodes, find: Callable[[str, int], str | None], exports: Mapping[str, Names]
) -> Names:
    """The names that a file imports from other files.

    Args:
      nodes: all nodes of the file.
      find: the file that a module and a number of leading dots mean in an import, or None.
      exports: {path: `Names`} that the files export which were read before.
    """
    found: Names = {}

    def add_members(module: str, level: int) -> None:
        theirs = exports.get(find(module, level) or "", {})
        found.update(("." + name, value) for name, value in theirs.items())

    for node in nodes.of(ast.ImportFrom):
        module, level = node.module or "", node.level
        theirs = exports.get(find(module, level) or "", {})
        for alias in node.names:
            if alias.name == "*":
                found.update(theirs)
            elif alias.name in theirs:
                found[alias.asname or alias.name] = theirs[alias.name]
            add_members(joined(module, alias.name), level)
    for node in nodes.of(ast.Import):
        for alias in node.names:
            add_members(alias.name, 0)
    return found


def used(nodes: walks.Nodes, names: Names) -> Names:
    """The names, of some, that a file reads."""
    read = {"*"}
    if names:
        read.update(node.id for node in nodes.of(ast.Name))
        read.update("." + node.attr for node in nodes.of(ast.Attribute))
    return {name: value for name, value in names.items() if name in read}


def exported(path: str, nodes: walks.Nodes, bindings: local_names.Bindings, names: Names) -> Names:
    """The names of TensorFlow that other files can import from a file.

    They are its own, by its `bindings`, and those that it imports from other files.
    """
    found = {name: (below, path) for name, below in bindings.tensorflow.items()}
    for node in nodes.of(ast.ImportFrom):
        below = local_names.below_tensorflow(node.module or "") if not node.level else None
        if below is not None and node.names[0].name == "*":
            found["*"] = joined(below, "*"), path
    return {name: value for name, value in {**found, **names}.items() if name[0] != "."}
