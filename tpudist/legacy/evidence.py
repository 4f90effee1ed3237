"""The names in one file that tell an era."""

import ast
import collections
import functools
import re

from tpudist import surfaces

Evidence = collections.namedtuple("Evidence", "name eras path line")
Evidence.__doc__ = """A name that tells an era.

Fields:
  name: as in the source, with the ``tf`` it was imported by.
  eras: the eras that have it, oldest first.
  path, line: where it stands.
"""

_STRATEGY = re.compile("strateg|distribution|replicator", re.IGNORECASE)
_COMPAT = re.compile(r"^compat\.v[12]\.")
_ALL_MEMBERS = {era: surfaces.members(era) for era in surfaces.ERAS}


def collect(tree, path):
    """The evidence in a file.

    Args:
      tree: its syntax tree.
      path: its path, for the Evidence.

    Returns:
      A list of Evidence in reading order.
    """
    imports = _Imports()
    imports.visit(tree)
    uses = _Uses(imports, path)
    uses.visit(tree)
    return sorted(uses.found, key=lambda name: name.line)


@functools.lru_cache(maxsize=None)
def eras_of_name(dotted):
    """The eras that a dotted name below ``tf`` tells.

    Args:
      dotted: such as "contrib.distribute.TPUStrategy" or "Session".

    Returns:
      A tuple of eras, oldest first; empty if every era has the name.
    """
    plain = _COMPAT.sub("", dotted)
    if plain.partition(".")[0] == "contrib" or (
        plain == dotted and _known(plain, surfaces.FIRST_GENERATION)
    ):
        return ("contrib",)
    return tuple(
        era
        for era in surfaces.ERAS
        if _known(
            plain,
            {row.name for row in surfaces.rows_of(era) if not row.name.startswith("TPUStrategy.")},
        )
    )


def eras_of_member(name, receiver):
    """The eras that an attribute of some object tells.

    Args:
      name: the attribute.
      receiver: last word of what it is taken from, "" if that has no name.

    Returns:
      A tuple of eras, oldest first; empty if it tells nothing.
    """
    if receiver == "extended":
        return ()
    eras = tuple(era for era in surfaces.ERAS if name in _ALL_MEMBERS[era])
    if _STRATEGY.search(receiver):
        return eras if len(eras) < len(surfaces.ERAS) else ()
    distinctive = name.count("_") > 1 or "tower" in name
    if (
        distinctive
        and not eras
        and _known("TowerContext." + name, {row.name for row in surfaces.rows_of("contrib")})
    ):
        return ("contrib",)
    return eras if distinctive and len(eras) == 1 else ()


def _known(dotted, names):
    parts = dotted.split(".")
    return any(".".join(parts[:end]) in names for end in range(1, len(parts) + 1))


class _Imports(ast.NodeVisitor):
    """Which local names are modules or names of TensorFlow, and which are
    strategies."""

    def __init__(self):
        self.tensorflow = {}
        self.strategies = set()
        self.imported = []

    def visit_Import(self, node):
        for name in node.names:
            first, _, rest = name.name.partition(".")
            if first != "tensorflow":
                continue
            if name.asname:
                self.tensorflow[name.asname] = rest
            else:
                self.tensorflow["tensorflow"] = ""
            self.imported.append((rest, node.lineno))

    def visit_ImportFrom(self, node):
        first, _, rest = (node.module or "").partition(".")
        if node.level or first != "tensorflow":
            return
        for name in node.names:
            dotted = (rest + "." + name.name).strip(".")
            self.tensorflow[name.asname or name.name] = dotted
            self.imported.append((dotted, node.lineno))

    def visit_Assign(self, node):
        if isinstance(node.value, ast.Call) and (_last_word(node.value.func).endswith("Strategy")):
            self.strategies.update(_last_word(target) for target in node.targets)
        self.generic_visit(node)


class _Uses(ast.NodeVisitor):
    """Collects the evidence, knowing what the local names mean."""

    def __init__(self, imports, path):
        self._imports, self._path = imports, path
        self.found = []
        for dotted, line in imports.imported:
            self._name(dotted, line)

    def visit_Attribute(self, node):
        dotted = self._dotted(node)
        if dotted is not None:
            self._name(dotted, node.lineno)
            return
        receiver = _last_word(node.value)
        if receiver in self._imports.strategies:
            receiver = "strategy"
        eras = eras_of_member(node.attr, receiver)
        if eras:
            self._add("." + node.attr, eras, node.lineno)
        self.generic_visit(node)

    def _name(self, dotted, line):
        eras = eras_of_name(dotted) if dotted else ()
        if eras:
            self._add("tf." + dotted, eras, line)

    def _add(self, name, eras, line):
        self.found.append(Evidence(name, eras, self._path, line))

    def _dotted(self, node):
        words = []
        while isinstance(node, ast.Attribute):
            words.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or (node.id not in self._imports.tensorflow):
            return None
        start = self._imports.tensorflow[node.id]
        return ".".join(([start] if start else []) + words[::-1])


def _last_word(node):
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""
