"""The imports of a file after a step: which TensorFlow its ``tf`` is."""

import ast

import libcst as cst

from tpudist import surfaces
from tpudist.surfaces.eras import walks
from tpudist.tools.migrate import edits, statements
from tpudist.tools.migrate import relocation as relocation_lib
from tpudist.tools.migrate.resolution import import_origins, python_trees, sources, tensorflow_names
from tpudist.tools.migrate.resolution.module import dotted_name

_RULE = "imports"
_HIDDEN = "tensorflow.distribute"  # by a folder of that name, since 2.7


def statement(full, bound):
    """The import that binds `bound` to the module or name `full`."""
    module, _, last = full.rpartition(".")
    if not module or (
        full.startswith("tensorflow.compat.") and full.count(".") == 2 and bound != last
    ):
        return "import %s" % full + ("" if full == bound else " as " + bound)
    return "from %s import %s" % (module, last) + ("" if last == bound else " as " + bound)


def plan(plan_, relocation):
    """Plans the edits of all imports of a file.

    Args:
      plan_: the `Plan`, with the edits of all rules.
      relocation: a `Relocation`.
    """
    for node in plan_.module.nodes.imports:
        if plan_.ignores(node, _RULE):
            continue
        _leave_googles(plan_, node, relocation)
        if isinstance(node, cst.Import):
            _plan_import(plan_, node, relocation)
        elif not node.relative and not isinstance(node.names, cst.ImportStar):
            _plan_from(plan_, node, relocation)
        elif not node.relative:
            _plan_star(plan_, node, relocation)
    if plan_.root_needed:
        _plan_root(plan_)
    if plan_.packages:
        _plan_packages(plan_)


def _leave_googles(plan_, node, relocation):
    """Leaves an import of what TensorFlow has at Google alone."""
    for full, bound in import_origins.imported(node):
        if relocation_lib.is_googles(full) and (
            bound == "tensorflow" or not _moves(relocation, full)
        ):
            plan_.leave(
                node,
                _RULE,
                "import of %s: no TensorFlow outside of Google has it" % full,
                "import tensorflow.compat.v1 as tf",
            )


def _plan_packages(plan_):
    """Puts the imports of packages after that of ``tf``."""
    root = plan_.bound_root()
    statement = root and statements.binding(plan_.module, root)
    missing = [
        line
        for line in plan_.packages
        if not any(plan_.module.code(node) == line for node in plan_.module.nodes.imports)
    ]
    if not missing:
        return
    new = [edits.statement(line) for line in missing]
    if statement is None:
        statement = statements.put_first(plan_, new)
    else:
        for each in new:
            statements.put_after(plan_, statement, each)
    plan_.done(statement, _RULE, "", "; ".join(missing))


def _plan_import(plan_, node, relocation):
    kept, made = [], []
    for alias in node.names:
        full = dotted_name(alias.name)
        bound = dotted_name(alias.asname.name) if alias.asname else full.split(".")[0]
        start = full if alias.asname else bound
        if alias.asname is None and _is_own_code(full):
            kept.append(alias)
            made += _beside_own_code(plan_, node, full, relocation)
        elif dropped(plan_, node, full, bound):
            made.append(None)
        elif alias.asname and full == _HIDDEN and relocation.plain:
            made.append(statement(relocation(full), bound))
        elif not (_moves(relocation, full) or start == "tensorflow" and relocation.moves(start)):
            kept.append(alias)
        elif alias.asname is None and full.startswith("tpudist"):
            kept.append(alias)
            plan_.leave(
                node,
                _RULE,
                "import " + full,
                "from %s import tensorflow as tf" % plan_.home.rpartition(".")[0],
            )
        else:
            made.append(statement(relocation(start), bound))
    if made:
        _replace(plan_, node, kept, made)


def _is_own_code(full):
    first, _, below = full.partition(".")
    return first == "tensorflow" and relocation_lib.is_own_code(below)


def _beside_own_code(plan_, node, full, relocation):
    """What ``tensorflow`` is bound to after ``import tensorflow.python.x``, if other names use it.

    The import itself stays: ``tf.compat.v1`` and the drop-ins have no module of that name.
    """
    if not relocation.moves("tensorflow"):
        return []
    module = plan_.module
    assignments = module.scope(node).assignments
    uses = {
        _whole_name(module, access.node)
        for each in assignments
        if each.name.partition(".")[0] == "tensorflow"
        for access in each.references
    }
    own = [_is_own_code(dotted_name(use)) for use in uses]
    if uses and not any(own):
        return [statement(relocation("tensorflow"), "tensorflow")]
    if not all(own):
        plan_.leave(
            node,
            _RULE,
            "import %s: tensorflow is used for more than that" % full,
            "import %s as a name of its own, and import tensorflow" % full,
        )
    return []


def _plan_from(plan_, node, relocation):
    base = dotted_name(node.module)
    kept, made, modules = [], [], set()
    for alias in node.names:
        name = dotted_name(alias.name)
        bound = dotted_name(alias.asname.name) if alias.asname else name
        full = base + "." + name
        if dropped(plan_, node, full, bound):
            made.append(None)
        elif not _moves(relocation, full):
            kept.append(alias)
            if relocation.leaves(full):
                plan_.leave(
                    node,
                    _RULE,
                    "from %s import %s" % (base, name),
                    "the name of TensorFlow that it stands for",
                )
        else:
            new = relocation(full)
            plain = new in ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")
            modules.add(None if plain or new.rpartition(".")[2] != name else new.rpartition(".")[0])
            made.append(statement(new, bound))
    if not made:
        return
    if not kept and None not in made and len(modules) == 1 and None not in modules:
        module = cst.parse_expression(modules.pop())
        plan_.replace(node, lambda updated: updated.with_changes(module=module))
        _note(plan_, node, "from %s import" % cst.Module([]).code_for_node(module))
        return
    _replace(plan_, node, kept, made)


def _plan_star(plan_, node, relocation):
    full = dotted_name(node.module)
    if _moves(relocation, full):
        module = cst.parse_expression(relocation(full))
        plan_.replace(node, lambda updated: updated.with_changes(module=module))
        _note(plan_, node, relocation(full))


def _moves(relocation, full):
    return tensorflow_names.below_tensorflow(full) is not None and relocation.moves(full)


def dropped(plan_, node, full, bound):
    """Whether an import of a module below contrib has no use left."""
    below = tensorflow_names.below_tensorflow(full)
    if not below or not below.startswith("contrib") or below in surfaces.NAMES["v2_0"]:
        return False
    scope = plan_.module.scope(node)
    uses = [access.node for assignment in scope[bound] for access in assignment.references]
    if not uses:
        return plan_.steps[0] == "2.0" and _is_unused(plan_, node, bound)
    if not plan_.respelled:
        return False
    return all(import_origins.first_name(use) in plan_.respelled for use in uses) and not _exported(
        plan_, bound
    )


def _whole_name(module, node):
    """The longest ``a.b.c`` that a Name begins, or is part of."""
    while isinstance(module.parent(node), cst.Attribute):
        node = module.parent(node)
    return node


def _is_unused(plan_, node, bound):
    """Whether nothing reads an import of a file, and no other file may import it from there."""
    module = plan_.module
    line = module.parent(node)
    return (
        module.parent(line) is module.tree
        and not module.path.endswith("__init__.py")
        and bound != "tensorflow"
        and not _exported(plan_, bound)
    )


def _exported(plan_, bound):
    """Whether another file of the code base may import the name from this one."""
    module, codebase = plan_.module, plan_.evaluator.codebase
    stem = module.path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    others = codebase.mentioning(bound, "import", stem)
    return any(path != module.path and _takes(codebase, path, stem, bound) for path in others)


def _takes(codebase, path, stem, bound):
    """Whether a file may import a name from a module, or ask a module for it."""
    try:
        tree = python_trees.parse(sources.read(path, codebase.bytes[path]).text)
    except sources.UNREADABLE:
        return True
    return any(
        {alias.name for alias in node.names} & {bound, "*"}
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] == stem
        else isinstance(node, ast.Attribute) and node.attr == bound
        for node in walks.nodes(tree)
    )


def _replace(plan_, node, kept, made):
    """Plans an import's new statements, each on a line of its own if it was alone on one."""
    if isinstance(node, cst.Import) and _replace_names(plan_, node, kept, made):
        return
    lines = _joined(sorted({line for line in made if line}, key=made.index))
    if plan_.root_needed:
        lines.append(_root(plan_))
        plan_.root_needed = False
    new = [edits.statement(line).body[0] for line in lines]

    def replaced(updated):
        rest = [each for alias, each in zip(node.names, updated.names) if alias in kept]
        if not rest:
            return new
        rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return [updated.with_changes(names=rest)] + new

    around = plan_.module.parent(node)
    alone = isinstance(around, cst.SimpleStatementLine) and len(around.body) == 1
    if alone and len(new) + bool(kept) > 1:
        plan_.replace(around, lambda line: _on_lines(line, replaced(line.body[0])))
    else:
        plan_.replace(
            node,
            lambda updated: (
                cst.FlattenSentinel(replaced(updated)) if new or kept else cst.RemoveFromParent()
            ),
        )
    _note(plan_, node, "; ".join(lines) or "nothing: no use is left")


def _joined(lines):
    """Imports from one module as one statement, where the first of them stood."""
    found = {}
    for line in lines:
        start, _, names = line.partition(" import ")
        found.setdefault(start, []).append(names)
    return [
        start + " import " + ", ".join(names) if any(names) else start
        for start, names in found.items()
    ]


def _replace_names(plan_, node, kept, made):
    """Plans an ``import a, b as c`` that stays one; False if it cannot."""
    if (
        len(node.names) < 2
        or plan_.root_needed
        or len(kept) + len(made) != len(node.names)
        or any(line is not None and not line.startswith("import ") for line in made)
    ):
        return False
    if not kept and not any(made):
        return False
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))

    def replaced(updated):
        new = iter([line and edits.statement(line).body[0].names[0] for line in made])
        names = [
            after if before in kept else next(new)
            for before, after in zip(node.names, updated.names)
        ]
        names = [each.with_changes(comma=comma) for each in names if each is not None]
        names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated.with_changes(names=names)

    plan_.replace(node, replaced)
    _note(plan_, node, "; ".join(line for line in made if line) or "nothing: no use is left")
    return True


def _on_lines(line, made):
    lines = [cst.SimpleStatementLine([each]) for each in made]
    lines[0] = lines[0].with_changes(leading_lines=line.leading_lines)
    lines[-1] = lines[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
    return cst.FlattenSentinel(lines)


def _note(plan_, node, instead):
    plan_.done(node, _RULE, plan_.module.code(node), instead)


def _root(plan_):
    return statement(plan_.home, "tf")


def _plan_root(plan_):
    """Puts an import of ``tf`` before the first import, or after the docstring."""
    node = statements.put_first(plan_, [edits.statement(_root(plan_))])
    is_import = isinstance(node, (cst.Import, cst.ImportFrom))
    plan_.done(node, _RULE, plan_.module.code(node) if is_import else "", _root(plan_))
