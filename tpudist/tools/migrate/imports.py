"""Rewrites the imports of a file: which TensorFlow its ``tf`` is after the steps."""

from __future__ import annotations

import ast
from typing import Any, Iterable, Sequence

from tpudist import surfaces
from tpudist.tools.migrate import relocation as relocation_lib
from tpudist.tools.migrate.relocation import Relocation
from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.module import Module, dotted_name, first_name, is_star
from tpudist.tools.migrate.rules import IMPORTS
from tpudist.tools.migrate.use import Plan

_HIDDEN = "tensorflow.distribute"  # by a folder of that name, since 2.7
_LONGEST = 99  # characters of a line


def statement(full: str, bound: str) -> str:
    """The import that binds `bound` to the module or name `full`."""
    module, _, last = full.rpartition(".")
    if not module or (
        full.startswith("tensorflow.compat.") and full.count(".") == 2 and bound != last
    ):
        return "import %s" % full + ("" if full == bound else " as " + bound)
    return "from %s import %s" % (module, last) + ("" if last == bound else " as " + bound)


def plan_imports(plan: Plan, relocation: Relocation) -> None:
    """Plans the edits of all imports of a file, and the imports that rules have asked for."""
    for node in plan.module.imports:
        is_relative = type(node) is ast.ImportFrom and node.level > 0
        if is_relative or plan.ignores(node, IMPORTS):
            continue
        if is_star(node):
            if _moves(relocation, node.module):
                _replace_module(plan, node, relocation(node.module))
            continue
        become = _become if type(node) is ast.Import else _become_from
        made = [become(plan, node, alias, relocation) for alias in node.names]
        _replace(plan, node, [line for lines in made for line in lines])
    for behind, asked in plan.asked.items():
        lines = [line or statement(plan.home, "tf") for line in asked]
        if behind is None:
            node = put_first(plan, lines)
            is_import = type(node) in (ast.Import, ast.ImportFrom)
            plan.done(node, IMPORTS, plan.module.code(node) if is_import else "", "; ".join(lines))
        else:
            put_behind(plan, behind, lines)
            plan.done(behind, IMPORTS, "", "; ".join(lines))


def _become(plan: Plan, node: Any, alias: ast.alias, relocation: Relocation) -> list[str]:
    """The statements that a name of ``import a.b as c`` becomes."""
    full, bound = alias.name, alias.asname or alias.name.split(".")[0]
    start = full if alias.asname else bound
    same = _statement_of(node, alias)
    if alias.asname is None and _is_own_code(full):
        if relocation.moves("tensorflow"):
            _leave_own_code(plan, node, full)
    elif dropped(plan, node, full, bound):
        return []
    elif alias.asname and full == _HIDDEN and relocation.plain:
        return [statement(full, bound)]
    elif _moves(relocation, full) or start == "tensorflow" and relocation.moves(start):
        if alias.asname or not full.startswith("tpudist"):
            return [statement(relocation(start), bound)]
        home = plan.home.rpartition(".")[0]
        plan.leave(node, IMPORTS, same, "from %s import tensorflow as tf" % home)
    return [same]


def _become_from(plan: Plan, node: Any, alias: ast.alias, relocation: Relocation) -> list[str]:
    """The statements that a name of ``from a import b as c`` becomes."""
    full, bound = "%s.%s" % (node.module, alias.name), alias.asname or alias.name
    if dropped(plan, node, full, bound):
        return []
    if _moves(relocation, full):
        return [statement(relocation(full), bound)]
    if relocation.leaves(full):
        name = "from %s import %s" % (node.module, alias.name)
        plan.leave(node, IMPORTS, name, "the name of TensorFlow that it stands for")
    return [_statement_of(node, alias)]


def _is_own_code(full: str) -> bool:
    first, _, below = full.partition(".")
    return first == "tensorflow" and relocation_lib.is_own_code(below)


def _leave_own_code(plan: Plan, node: Any, full: str) -> None:
    """Reports ``import tensorflow.python.x``, which stays, if ``tensorflow`` is used otherwise."""
    module = plan.module
    for use in module.references(module.scope(node), "tensorflow"):
        while type(module.parent(use)) is ast.Attribute:
            use = module.parent(use)
        if not _is_own_code(dotted_name(use)):
            instead = "import %s as a name of its own, and import tensorflow" % full
            why = "tensorflow is used for more than that"
            return plan.leave(node, IMPORTS, "import " + full, instead, why, False)
    return None


def _moves(relocation: Relocation, full: str) -> bool:
    return tensorflow_names.below_tensorflow(full) is not None and relocation.moves(full)


def dropped(plan: Plan, node: Any, full: str, bound: str) -> bool:
    """Whether an import of a module below contrib has no use left."""
    below = tensorflow_names.below_tensorflow(full)
    if not below or not below.startswith("contrib") or below in surfaces.NAMES["v2_0"]:
        return False
    module = plan.module
    uses = module.references(module.scope(node), bound)
    if uses:
        is_left = any(first_name(use) not in plan.respelled for use in uses)
        return not is_left and not _exported(plan, bound)
    return (
        plan.steps[0] == "2.0"
        and module.parent(node) is module.tree
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


def _replace(plan: Plan, node: Any, new: Sequence[str]) -> None:
    """Plans the statements that an import becomes, each on a line of its own if it was alone."""
    old = [_statement_of(node, alias) for alias in node.names]
    if new == old:
        return
    before = "from %s import " % getattr(node, "module", "")
    modules = {line.partition(" import ")[0] for line in new}
    if [line.partition(" import ")[2] for line in new] == [line[len(before) :] for line in old]:
        if len(modules) == 1 and type(node) is ast.ImportFrom:
            _replace_module(plan, node, modules.pop().partition(" ")[2])
            return
    module = plan.module
    (start, end), is_alone = module.span(node), module.is_alone(node)
    indent = module.indent(node)
    if new:
        between = "\n" + indent if is_alone else "; "
        lines = _joined(new, indent if is_alone else None)
        plan.edits.replace(start, end, between.join(lines))
    elif is_alone and _has_siblings(module, node):
        plan.edits.remove_lines(module.line_start(node), module.line_end(node))
    else:
        plan.edits.replace(start, end, "pass")
    added = "; ".join(line for line in new if line not in old)
    plan.done(node, IMPORTS, module.code(node), added or "nothing: no use is left")


def _replace_module(plan: Plan, node: ast.ImportFrom, new: str) -> None:
    """Writes another module after ``from``; the names and their layout stay."""
    text, words = plan.module.text, str(node.module).split(".")
    start = end = text.index(words[0], plan.module.span(node)[0] + len("from"))
    for word in words:
        end = text.index(word, end) + len(word)
    plan.edits.replace(start, end, new)
    plan.done(node, IMPORTS, plan.module.code(node), "from %s import" % new)


def _joined(lines: Sequence[str], indent: str | None) -> list[str]:
    """Joins imports of one module; `indent` is None if all are to stand on one line."""
    found: dict[str, list[str]] = {}
    for line in lines:
        start, _, name = line.partition("import ")
        found.setdefault(start + "import ", []).append(name)
    made = []
    for start, names in found.items():
        line = start + ", ".join(dict.fromkeys(names))
        if indent is not None and len(indent + line) > _LONGEST and start.startswith("from"):
            inner = ",".join("\n%s    %s" % (indent, name) for name in names)
            line = "%s(%s,\n%s)" % (start, inner, indent)
        made.append(line)
    return made


def _statement_of(node: Any, alias: ast.alias) -> str:
    """The statement that imports one of the names of another one."""
    start = "import " if type(node) is ast.Import else "from %s import " % node.module
    return start + alias.name + (" as " + alias.asname if alias.asname else "")


def _has_siblings(module: Module, node: Any) -> bool:
    """Whether a statement's block has others."""
    fields = ("body", "orelse", "finalbody")
    blocks = [getattr(module.parent(node), field, None) or () for field in fields]
    return any(node in block and len(block) > 1 for block in blocks)


def put_first(plan: Plan, lines: Iterable[str]) -> ast.stmt:
    """Puts statements before the first import, or after the docstring; what they stand before."""
    module, body = plan.module, plan.module.tree.body
    start = 1 if ast.get_docstring(module.tree) is not None else 0
    while start < len(body) and getattr(body[start], "module", "") == "__future__":
        start += 1
    imports = [each for each in body[start:] if type(each) in (ast.Import, ast.ImportFrom)]
    text = "".join(line + "\n" for line in lines)
    if imports or not start:
        node = (imports or body)[0]
        place = module.line_start(node)
        plan.edits.wrap(place, place, text, "")
        return node
    _insert_at_line_end(plan, body[start - 1], text)
    return body[start - 1]


def put_behind(plan: Plan, statement: Any, lines: Iterable[str]) -> None:
    """Puts statements behind a simple one, on lines of their own if it is on one of its own."""
    module = plan.module
    if module.is_alone(statement):
        indent = module.indent(statement)
        _insert_at_line_end(plan, statement, "".join(indent + line + "\n" for line in lines))
    else:
        plan.edits.insert(module.span(statement)[1], "".join("; " + line for line in lines))


def _insert_at_line_end(plan: Plan, statement: Any, text: str) -> None:
    end = plan.module.line_end(statement)
    is_ended = plan.module.text[:end].endswith(("\n", "\r"))
    plan.edits.insert(end, text if is_ended else "\n" + text[:-1])
