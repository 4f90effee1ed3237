"""The imports of a file after a step: which TensorFlow its ``tf`` is.

A step leads to an era's drop-in namespace, "latest" to plain TensorFlow. A file
of TensorFlow 1 gets the ``compat.v1`` of it, so that its other names keep their
meaning.
"""

import re

import libcst as cst

from tpudist import surfaces
from tpudist.migrate import names
from tpudist.migrate.module import dotted_name

_HOMES = {"contrib": "tpudist.contrib.tensorflow", "v2_0": "tpudist.v2_0.tensorflow",
          "v2_2": "tpudist.v2_2.tensorflow", "latest": "tensorflow"}
_NOT_IN_V1 = ("python", "compat", "contrib")
_RULE = "imports"
_V1 = re.compile(r"(tpudist\.\w+\.)?tensorflow\.compat\.v1(\.|$)")


class Relocation:
    """Where imported names are after a step.

    Args:
      target: an era, or "latest".
      sources: the eras whose drop-in imports move.
      plain: whether imports of TensorFlow itself move too.
      v1: whether they become those of ``compat.v1``.
      successors: {old dotted name: new one}.
    """

    def __init__(self, target, sources=(), plain=False, v1=False, successors=()):
        self._home, self._sources = _HOMES[target], tuple(sources)
        self._plain, self._v1 = plain, v1
        self._successors = dict(successors)

    def __call__(self, full):
        """The new full name of an imported one; the same if it stays."""
        home, rest = self._split(full)
        if home is None:
            return full
        compat, inner = _compat(rest)
        new = self._successors.get(inner, inner)
        if not compat and self._v1 and inner.partition(".")[0] not in _NOT_IN_V1[:2]:
            compat = "" if new.partition(".")[0] == "contrib" else "compat.v1"
        if compat == "compat.v1" and inner == "distribute.experimental.TPUStrategy":
            new = inner
        if home == "tensorflow" and not compat and new.startswith("distribute."):
            compat = "compat.v2"  # a folder of that name hides tensorflow.distribute since 2.7
        return ".".join(part for part in (home, compat, new) if part)

    def _split(self, full):
        parts = full.split(".")
        if parts[0] == "tensorflow" and (self._plain or self._home == "tensorflow"):
            return self._home, ".".join(parts[1:])
        if parts[0] == "tpudist" and len(parts) > 1 and parts[1] in self._sources:
            if parts[2:3] == ["tensorflow"]:
                return self._home, ".".join(parts[3:])
            below = names.below_tensorflow(full)
            if below:
                return self._home, below
        return None, ""

    def moves(self, full):
        """Whether an imported name moves."""
        return self(full) != full


def _compat(rest):
    for compat in ("compat.v1", "compat.v2"):
        if rest == compat or rest.startswith(compat + "."):
            return compat, rest[len(compat) + 1:]
    return "", rest


def statement(full, bound):
    """The import that binds `bound` to the module or name `full`."""
    module, _, last = full.rpartition(".")
    if not module or (full.startswith("tensorflow.compat.") and full.count(".") == 2
                      and bound != last):
        return "import %s" % full + ("" if full == bound else " as " + bound)
    return "from %s import %s" % (module, last) + ("" if last == bound else " as " + bound)


def plan(plan_, relocation):
    """Plans the edits of all imports of a file.

    Args:
      plan_: the `Plan`, with the edits of all rules.
      relocation: a `Relocation`.
    """
    for node in plan_.module.nodes.imports:
        if isinstance(node, cst.Import):
            _plan_import(plan_, node, relocation)
        elif not node.relative and not isinstance(node.names, cst.ImportStar):
            _plan_from(plan_, node, relocation)
        elif not node.relative:
            _plan_star(plan_, node, relocation)
    if plan_.root_needed:
        _plan_root(plan_)


def _plan_import(plan_, node, relocation):
    kept, made = [], []
    for alias in node.names:
        full = dotted_name(alias.name)
        bound = dotted_name(alias.asname.name) if alias.asname else full.split(".")[0]
        start = full if alias.asname else bound
        if not _moves(relocation, full):
            kept.append(alias)
        elif _dropped(plan_, full, bound):
            made.append(None)
        elif alias.asname is None and full.startswith("tpudist"):
            kept.append(alias)
            plan_.leave(node, _RULE, "import " + full,
                        "from %s import tensorflow as tf" % plan_.home.rpartition(".")[0])
        else:
            made.append(statement(relocation(start), bound))
    if made:
        _replace(plan_, node, kept, made)


def _plan_from(plan_, node, relocation):
    base = dotted_name(node.module)
    kept, made, modules = [], [], set()
    for alias in node.names:
        name = dotted_name(alias.name)
        bound = dotted_name(alias.asname.name) if alias.asname else name
        full = base + "." + name
        if not _moves(relocation, full):
            kept.append(alias)
        elif _dropped(plan_, full, bound):
            made.append(None)
        else:
            new = relocation(full)
            plain = new == "tensorflow" or new.startswith("tensorflow.compat.")
            modules.add(None if plain or new.rpartition(".")[2] != name
                        else new.rpartition(".")[0])
            made.append(statement(new, bound))
    if not made:
        return
    if not kept and None not in made and len(modules) == 1 and None not in modules:
        module = cst.parse_expression(modules.pop())
        plan_.replace(node, lambda updated: updated.with_changes(module=module))
        _note(plan_, node, "from %s import" % plan_.module.tree.code_for_node(module))
        return
    _replace(plan_, node, kept, made)


def _plan_star(plan_, node, relocation):
    full = dotted_name(node.module)
    if _moves(relocation, full):
        module = cst.parse_expression(relocation(full))
        plan_.replace(node, lambda updated: updated.with_changes(module=module))
        _note(plan_, node, relocation(full))


def _moves(relocation, full):
    return names.below_tensorflow(full) is not None and relocation.moves(full)


def _dropped(plan_, full, bound):
    """Whether an import of a module below contrib has no use left."""
    below = names.below_tensorflow(full)
    if not below or not below.startswith("contrib") or below in surfaces.NAMES["v2_0"]:
        return False
    scope = plan_.module.global_scope()
    uses = [access.node for assignment in scope[bound] for access in assignment.references]
    if not uses or not plan_.respelled:
        return False
    return all(_first(use) in plan_.respelled for use in uses) and not _exported(plan_, bound)


def covered(name, era):
    """Whether the drop-in namespace of an era answers for a dotted name below ``tf``."""
    dropins = surfaces.DROPINS[era]
    return any(key == name or key.startswith(name + ".") or name.startswith(key + ".")
               for key in dropins) or (
        name in ("contrib.distribute.MirroredStrategy", "contrib.distribute.OneDeviceStrategy"))


def is_v1(module, node=None):
    """Whether names below ``tf`` are those of ``tf.compat.v1``.

    Args:
      module: the `Module`.
      node: a name below ``tf``; None for whatever the file imports.

    Returns:
      True if its import, or its own spelling, says ``compat.v1``.
    """
    first = None if node is None else _first(node)
    if node is not None and ".compat.v1." in dotted_name(node):
        return True
    return any(_V1.match(full) for each in module.nodes.imports for full, bound in _imported(each)
               if first is None or bound == first.value)


def leave_gone(plan_, era):
    """Notes imports of contrib modules that stay, which no later TensorFlow has.

    Args:
      plan_: the `Plan`, with all edits.
      era: the era whose drop-in namespace the file uses afterwards; "" for none.
    """
    for node in plan_.module.nodes.imports:
        for full, bound in _imported(node):
            below = names.below_tensorflow(full) or ""
            stays = below.partition(".")[0] == "contrib" and below not in surfaces.NAMES["v2_0"]
            if stays and not (era and covered(below, era)) and not _dropped(
                    plan_, full, bound):
                plan_.leave(node, "gone-contrib", "import of %s: tf.contrib ended with "
                            "TensorFlow 1.15" % full, surfaces.GONE[surfaces.gone_prefix(below)])


def _imported(node):
    """(full name, bound name) of what an import statement binds."""
    if isinstance(node, cst.Import):
        for alias in node.names:
            full = dotted_name(alias.name)
            yield full, dotted_name(alias.asname.name) if alias.asname else full.split(".")[0]
    elif not node.relative and not isinstance(node.names, cst.ImportStar):
        for alias in node.names:
            name = dotted_name(alias.name)
            yield (dotted_name(node.module) + "." + name,
                   dotted_name(alias.asname.name) if alias.asname else name)


def _first(node):
    while isinstance(node, cst.Attribute):
        node = node.value
    return node


def _exported(plan_, bound):
    """Whether another file of the code base may import the name from this one."""
    module, codebase = plan_.module, plan_.evaluator.codebase
    stem = module.path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    return any(path != module.path for path in codebase.mentioning(bound, "import", stem))


def _replace(plan_, node, kept, made):
    lines = sorted({line for line in made if line}, key=made.index)
    root = _root(plan_) if plan_.root_needed else None
    if root:
        lines.append(root)
        plan_.root_needed = False
    new = [cst.parse_statement(line).body[0] for line in lines]

    def replaced(updated):
        rest = [each for alias, each in zip(node.names, updated.names) if alias in kept]
        found = list(new)
        if rest:
            rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            found.insert(0, updated.with_changes(names=rest))
        return cst.FlattenSentinel(found) if found else cst.RemoveFromParent()
    plan_.replace(node, replaced)
    _note(plan_, node, "; ".join(lines) or "nothing: no use is left")


def _note(plan_, node, instead):
    plan_.done(node, _RULE, plan_.module.code(node), instead)


def _root(plan_):
    return statement(plan_.home, "tf")


def _plan_root(plan_):
    """Puts an import of ``tf`` before the first import, or after the docstring."""
    new = cst.parse_statement(_root(plan_))
    for node in plan_.module.nodes.imports:
        line = plan_.module.parent(node)
        future = isinstance(node, cst.ImportFrom) and node.module is not None and (
            dotted_name(node.module) == "__future__")
        if not future and plan_.module.parent(line) is plan_.module.tree:
            plan_.replace(line, lambda updated: _before(new, updated))
            _note(plan_, node, _root(plan_))
            return
    plan_.replace(plan_.module.tree, lambda updated: _after_docstring(new, updated))


def _before(new, updated):
    if not isinstance(updated, cst.SimpleStatementLine):
        return updated
    return cst.FlattenSentinel([new.with_changes(leading_lines=updated.leading_lines),
                                updated.with_changes(leading_lines=())])


def _after_docstring(new, tree):
    start = 1 if tree.get_docstring() is not None else 0
    while start < len(tree.body) and "__future__" in tree.code_for_node(tree.body[start]):
        start += 1
    return tree.with_changes(body=list(tree.body[:start]) + [new] + list(tree.body[start:]))
