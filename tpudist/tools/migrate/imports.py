"""The imports of a file after a step: which TensorFlow its ``tf`` is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Sequence

from tpudist import surfaces
from tpudist.tools.migrate import relocation as relocation_lib
from tpudist.tools.migrate import statements
from tpudist.tools.migrate.resolution import import_origins, tensorflow_names
from tpudist.tools.migrate.resolution.module import dotted_name, imported, is_star

if TYPE_CHECKING:
    from tpudist.tools.migrate.relocation import Relocation
    from tpudist.tools.migrate.resolution.module import Module
    from tpudist.tools.migrate.use import Plan

_RULE = "imports"
_HIDDEN = "tensorflow.distribute"  # by a folder of that name, since 2.7
_PLAIN = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")


def statement(full: str, bound: str) -> str:
    """The import that binds `bound` to the module or name `full`."""
    module, _, last = full.rpartition(".")
    if not module or (
        full.startswith("tensorflow.compat.") and full.count(".") == 2 and bound != last
    ):
        return "import %s" % full + ("" if full == bound else " as " + bound)
    return "from %s import %s" % (module, last) + ("" if last == bound else " as " + bound)


def plan_imports(plan: Plan, relocation: Relocation) -> None:
    """Plans the edits of all imports of a file.

    Args:
      plan: the `Plan`, with the edits of all rules.
      relocation: a `Relocation`.
    """
    for node in plan.module.imports:
        if plan.ignores(node, _RULE):
            continue
        _leave_googles(plan, node, relocation)
        if type(node) is ast.Import:
            _plan_import(plan, node, relocation)
        elif not node.level and not is_star(node):
            _plan_from(plan, node, relocation)
        elif not node.level and _moves(relocation, node.module):
            _replace_module(plan, node, relocation(node.module), relocation(node.module))
    if plan.root_needed:
        line = statement(plan.home, "tf")
        node = statements.put_first(plan, line + "\n")
        is_import = type(node) in (ast.Import, ast.ImportFrom)
        plan.done(node, _RULE, plan.module.code(node) if is_import else "", line)
    if plan.packages:
        _plan_packages(plan)


def _leave_googles(plan: Plan, node: Any, relocation: Relocation) -> None:
    """Leaves an import of what TensorFlow has at Google alone."""
    for full, bound in imported(node):
        if relocation_lib.is_googles(full) and (
            bound == "tensorflow" or not _moves(relocation, full)
        ):
            plan.leave(
                node,
                _RULE,
                "import of " + full,
                "import tensorflow.compat.v1 as tf",
                "no TensorFlow outside of Google has it",
            )


def _plan_packages(plan: Plan) -> None:
    """Puts the imports of packages after that of ``tf``."""
    module, root = plan.module, plan.bound_root()
    lines = [module.code(node) for node in module.imports]
    missing = [line for line in plan.packages if line not in lines]
    if not missing:
        return
    node = root and statements.binding(module, root)
    if node:
        for line in missing:
            statements.put_after(plan, node, line)
    else:
        node = statements.put_first(plan, "".join(line + "\n" for line in missing))
    plan.done(node, _RULE, "", "; ".join(missing))


def _plan_import(plan: Plan, node: ast.Import, relocation: Relocation) -> None:
    made: list[str | None] = []  # for each name what it becomes: itself, or None for nothing
    for alias in node.names:
        full, bound = alias.name, alias.asname or alias.name.split(".")[0]
        start = full if alias.asname else bound
        same = _statement_of(node, alias)
        if alias.asname is None and _is_own_code(full):
            made.append(same)
            made += _beside_own_code(plan, node, full, relocation)
        elif dropped(plan, node, full, bound):
            made.append(None)
        elif alias.asname and full == _HIDDEN and relocation.plain:
            made.append(statement(relocation(full), bound))
        elif not (_moves(relocation, full) or start == "tensorflow" and relocation.moves(start)):
            made.append(same)
        elif alias.asname is None and full.startswith("tpudist"):
            made.append(same)
            plan.leave(
                node, _RULE, same, "from %s import tensorflow as tf" % plan.home.rpartition(".")[0]
            )
        else:
            made.append(statement(relocation(start), bound))
    _replace(plan, node, made)


def _is_own_code(full: str) -> bool:
    first, _, below = full.partition(".")
    return first == "tensorflow" and relocation_lib.is_own_code(below)


def _beside_own_code(plan: Plan, node: Any, full: str, relocation: Relocation) -> list[str | None]:
    """What ``tensorflow`` is bound to after ``import tensorflow.python.x``, if other names use it.

    The import itself stays: ``tf.compat.v1`` and the drop-ins have no module of that name.
    """
    if not relocation.moves("tensorflow"):
        return []
    module = plan.module
    uses = {
        _whole_name(module, access)
        for each in module.scope(node)["tensorflow"]
        for access in each.references
    }
    own = [_is_own_code(dotted_name(use)) for use in uses]
    if uses and not any(own):
        return [statement(relocation("tensorflow"), "tensorflow")]
    if not all(own):
        plan.leave(
            node,
            _RULE,
            "import " + full,
            "import %s as a name of its own, and import tensorflow" % full,
            "tensorflow is used for more than that",
        )
    return []


def _plan_from(plan: Plan, node: ast.ImportFrom, relocation: Relocation) -> None:
    made: list[str | None] = []
    modules = set()
    for alias in node.names:
        full, bound = "%s.%s" % (node.module, alias.name), alias.asname or alias.name
        same = _statement_of(node, alias)
        if dropped(plan, node, full, bound):
            made.append(None)
        elif not _moves(relocation, full):
            made.append(same)
            modules.add("")
            if relocation.leaves(full):
                name = "from %s import %s" % (node.module, alias.name)
                plan.leave(node, _RULE, name, "the name of TensorFlow that it stands for")
        else:
            new = relocation(full)
            module, _, last = new.rpartition(".")
            modules.add("" if new in _PLAIN or last != alias.name else module)
            made.append(statement(new, bound))
    if None not in made and len(modules) == 1 and "" not in modules:
        module = modules.pop()
        _replace_module(plan, node, module, "from %s import" % module)
    else:
        _replace(plan, node, made)


def _replace_module(plan: Plan, node: ast.ImportFrom, module: str, instead: str) -> None:
    """Writes another module after ``from``; the names and their layout stay."""
    start = plan.module.span(node)[0]
    start = plan.module.text.index(str(node.module).split(".")[0], start + len("from"))
    end = start
    for word in str(node.module).split("."):
        end = plan.module.text.index(word, end) + len(word)
    plan.edits.replace(start, end, module)
    plan.done(node, _RULE, plan.module.code(node), instead)


def _moves(relocation: Relocation, full: str) -> bool:
    return tensorflow_names.below_tensorflow(full) is not None and relocation.moves(full)


def dropped(plan: Plan, node: Any, full: str, bound: str) -> bool:
    """Whether an import of a module below contrib has no use left."""
    below = tensorflow_names.below_tensorflow(full)
    if not below or not below.startswith("contrib") or below in surfaces.NAMES["v2_0"]:
        return False
    uses = [access for each in plan.module.scope(node)[bound] for access in each.references]
    if not uses:
        return plan.steps[0] == "2.0" and _is_unused(plan, node, bound)
    is_respelled = all(import_origins.first_name(use) in plan.respelled for use in uses)
    return is_respelled and not _exported(plan, bound)


def _whole_name(module: Module, node: Any) -> Any:
    """The longest ``a.b.c`` that a Name begins, or is part of."""
    while type(module.parent(node)) is ast.Attribute:
        node = module.parent(node)
    return node


def _is_unused(plan: Plan, node: Any, bound: str) -> bool:
    """Whether nothing reads an import of a file, and no other file may import it from there."""
    module = plan.module
    return (
        module.parent(node) is module.tree
        and not module.path.endswith("__init__.py")
        and bound != "tensorflow"
        and not _exported(plan, bound)
    )


def _exported(plan: Plan, bound: str) -> bool:
    """Whether another file of the code base may import the name from this one."""
    codebase, path = plan.evaluator.codebase, plan.module.path
    return any(
        _takes(codebase.module(other), path, bound, plan)
        for other in codebase.importers.get(path, ())
    )


def _takes(module: Module | None, path: str, bound: str, plan: Plan) -> bool:
    """Whether a file may import a name from a module, or ask a module for it."""
    if module is None or any(node.attr == bound for node in module.of(ast.Attribute)):
        return True
    find = plan.evaluator.codebase.find_module
    return any(
        {alias.name for alias in node.names} & {bound, "*"}
        and find(node.module or "", node.level, module.path) == path
        for node in module.of(ast.ImportFrom)
    )


def _replace(plan: Plan, node: Any, made: Sequence[str | None]) -> None:
    """Plans an import's new statements, each on a line of its own if it was alone on one.

    Args:
      plan: the `Plan`.
      node: the import.
      made: what its names become, as statements; None of what is dropped.
    """
    old = [_statement_of(node, alias) for alias in node.names]
    kept = [index for index, line in enumerate(old) if line in made]
    new = _joined([line for line in made if line and line not in old])
    if len(kept) == len(old) and not new:
        return
    if plan.root_needed:
        new.append(statement(plan.home, "tf"))
        plan.root_needed = False
    module = plan.module
    (start, end), is_alone = module.span(node), module.is_alone(node)
    between = "\n" + module.indent(node) if is_alone else "; "
    plain = [line[len("import ") :] for line in made if line and line.startswith("import ")]
    if type(node) is ast.Import and 1 < len(old) == len(plain) == len(made):
        plan.edits.replace(start, end, "import " + ", ".join(plain))
    elif kept:
        _remove_names(plan, node, kept)
        plan.edits.insert(end, "".join(between + line for line in new))
    elif new:
        plan.edits.replace(start, end, between.join(new))
    elif is_alone and len(_block(module, node)) > 1:
        plan.edits.remove_lines(module.line_start(node), module.line_end(node))
    else:
        plan.edits.replace(start, end, "pass")
    plan.done(node, _RULE, module.code(node), "; ".join(new) or "nothing: no use is left")


def _remove_names(plan: Plan, node: Any, kept: Sequence[int]) -> None:
    """Removes names of an import statement, with the commas that belong to them."""
    text, place = plan.module.text, plan.module.span(node)[0]
    if type(node) is ast.ImportFrom:
        for word in ("from", *(node.module or "").split("."), "import"):
            place = text.index(word, place) + len(word)
    else:
        place += len("import")
    spans = []
    for alias in node.names:
        start = place = text.index(alias.name.split(".")[0], place)
        for word in alias.name.split(".") + (["as", alias.asname] if alias.asname else []):
            place = text.index(word, place) + len(word)
        spans.append((start, place))
    for index, (start, _) in enumerate(spans):
        if index not in kept and index < kept[-1]:
            plan.edits.remove(start, spans[index + 1][0])
    if kept[-1] + 1 < len(spans):
        plan.edits.remove(spans[kept[-1]][1], spans[-1][1])


def _statement_of(node: Any, alias: ast.alias) -> str:
    """The statement that imports one of the names of another one."""
    start = "import " if type(node) is ast.Import else "from %s import " % node.module
    return start + alias.name + (" as " + alias.asname if alias.asname else "")


def _block(module: Module, node: Any) -> Any:
    """The block of statements that a statement is in."""
    parent = module.parent(node)
    for field in ("body", "orelse", "finalbody"):
        if node in (getattr(parent, field, None) or ()):
            return getattr(parent, field)
    return [node]


def _joined(lines: Sequence[str]) -> list[str]:
    """Imports from one module as one statement, where the first of them stood."""
    found: dict[str, list[str]] = {}
    for line in sorted(set(lines), key=lines.index):
        start, _, names = line.partition(" import ")
        found.setdefault(start, []).append(names)
    return [
        start + " import " + ", ".join(names) if any(names) else start
        for start, names in found.items()
    ]
