"""Which modules with names that today's TensorFlow has not a file hands on."""

from __future__ import annotations

import ast
import re

from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.names import without_compat
from tpudist.tools.migrate import asked_names, handed_on

#: A module that is imported by a string.
_BY_STRING = re.compile(
    r"""\b(?:import_module|importorskip|__import__|modules|\w*[lL]azy\w*)\s*[(\[]\s*[^\n]{0,200}?"""
    r"""["']tensorflow((?:\.\w+)*)["']"""
)
_INDENTED = re.compile(r"^[ \t]+(?:import|from) tensorflow\b", re.M)
_WORD = re.compile(r"\w+")
_VARIABLE = re.compile(r"\s*\w+\s*=\s*\Z")
_END = re.compile(r"[ \t]*(?:#|$)", re.M)


def of(text: str, nodes: walks.Nodes, bound: handed_on.Bound) -> frozenset[str] | None:
    """The modules with names that today's TensorFlow has not, which a file hands on.

    Args:
      text: its source.
      nodes: all its nodes.
      bound: the words that it knows TensorFlow's names by.

    Returns:
      Dotted names below ``tf``, "" for TensorFlow itself, apart from ``K = tf.keras.backend``,
      which is followed; None if it hands on no name.
    """
    found = list(handed_on.standing(text, bound, asked_names.is_of_today))
    if found:  # in strings and comments, perhaps
        code = _words(nodes, bound)
        found = [each for each in found if _line(text, each[1]) in code]
    by_string = [name.strip(".") for name in _by_string(text)]
    by_string += _of_classes(text, nodes)
    if not found and not by_string:
        return None
    names = {name for name, match in found if not _is_assigned(text, match)}.union(by_string)
    return frozenset(without_compat(each) for each in names) & asked_names.ABOVE_TODAY


def _words(nodes: walks.Nodes, bound: handed_on.Bound) -> set[tuple[str, int]]:
    """(word, line) of the Names that are some words, and of each line of ``x.tf``."""
    found = set()
    for node in nodes.of(ast.Name):
        if node.id in bound:
            found.add((node.id, node.lineno))
    for node in nodes.of(ast.Attribute):
        if node.attr in handed_on.ROOTS:
            last = getattr(node, "end_lineno", node.lineno)
            found |= {(node.attr, line) for line in range(node.lineno, last + 1)}
    return found


def _line(text: str, match: re.Match[str]) -> tuple[str, int]:
    word = _WORD.match(text, match.start())
    return word.group() if word else "", text.count("\n", 0, match.start()) + 1


def _by_string(text: str) -> list[str]:
    return _BY_STRING.findall(text) if "'tensorflow" in text or '"tensorflow' in text else []


def _of_classes(text: str, nodes: walks.Nodes) -> list[str]:
    """Modules of TensorFlow that a class imports for itself: ``self.tf``."""
    if _INDENTED.search(text) is None:
        return []
    imports = [
        node for each in nodes.of(ast.ClassDef) for node in each.body if type(node) in walks.IMPORTS
    ]
    every = [
        (name if module is None else "%s.%s" % (module, name))
        for module, _, given in map(walks.imported, imports)
        for name, _ in given
    ]
    return [name.partition(".")[2] for name in every if name.partition(".")[0] == "tensorflow"]


def _is_assigned(text: str, match: re.Match[str]) -> bool:
    """Whether a name is all that a variable is assigned."""
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    return bool(_VARIABLE.match(line)) and _END.match(text, match.end()) is not None
