"""Names below TensorFlow that a string has imported: ``import_module("tensorflow").Session``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tpudist.surfaces.eras import names, walks
from tpudist.tools.migrate import string_rules

if TYPE_CHECKING:
    from typing import Iterator

    from tpudist.tools.migrate.string_rules import Rules

#: What gives a module whose name it is told.
_GIVES = ("import_module", "__import__", "importorskip")
#: What a name begins with below which most modules are gone, or contrib.
_ABOVE = ("tensorflow", "tensorflow.python")


def made(every: list[Any], rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    """Modules that are imported by a name that is put together: ``"tensorflow." + name``.

    Args and yields: as of `told`.
    """
    for node in every:
        if type(node) is not ast.Call or walks.last_word(node.func) not in _GIVES or not node.args:
            continue
        first, is_all = _beginning_of_text(node.args[0])
        if walks.text(node.args[0]) is not None or rules.every is None:
            continue
        place = node.lineno, node.col_offset + 1
        below = first.partition(".")[2]
        if is_all and first.startswith("tensorflow.") and rules.of(below):
            yield (*place, rules.of(below) or "", '"%s", imported by a string' % first,
                   string_rules.instead(below))  # fmt: skip
        elif not is_all and first.rstrip(".") in _ABOVE:
            seen = '"%s" and what follows: it cannot be told which module is imported' % first
            instead = "an import of each module, where TensorFlow may have it no longer"
            yield (*place, rules.every, seen, instead)


def _beginning_of_text(node: Any) -> tuple[str, bool]:
    """(what a text that is put together begins with, whether that is all of it)."""
    whole = walks.text(node)
    if whole is not None:
        return whole, True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        first, is_all = _beginning_of_text(node.left)
        last, is_last = _beginning_of_text(node.right) if is_all else ("", False)
        return first + last, is_last
    if isinstance(node, ast.BinOp):
        return (walks.text(node.left) or "").partition("%")[0], False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return (walks.text(node.func.value) or "").partition("{")[0], False
    parts = node.values if isinstance(node, ast.JoinedStr) else ()
    return (walks.text(parts[0]) or "" if parts else ""), False


def told(every: list[ast.AST], rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    """Legacy names below TensorFlow, where a string has imported it.

    Args:
      every: all nodes of a file, as of `walks.nodes`.
      rules: which names are told.

    Yields:
      (line, column, rule, what was seen, what to do).
    """
    giving = {id(node) for node in every if _gives_tensorflow(node)}
    if not giving:
        return
    given = {
        walks.written(target)
        for node in every
        if id(getattr(node, "value", None)) in giving
        for target in getattr(node, "targets", None) or [getattr(node, "target", None)]
    } - {""}
    taken: set[int] = set()  # what a longer name that is told begins with
    for node in every:
        below = None if id(node) in taken else _below_given(node, giving, given)
        for each in _of_module(node, *below, rules) if below else ():
            taken |= _beginning(node)
            yield each


def _beginning(node: Any) -> set[int]:
    """What a dotted name begins with."""
    found = set()
    while node is not None:
        node = _asked(node)[0]
        found.add(id(node))
    return found


def _below_given(node: Any, giving: set[int], given: set[str]) -> tuple[str, str] | None:
    """(what it begins with, the name below it) of a name below a module that a string imported."""
    words: list[str] = []
    owner, name = _asked(node)
    while owner is not None:
        words.insert(0, name)
        if id(owner) in giving:
            return "", ".".join(words)
        if walks.written(owner) in given:
            return walks.written(owner), ".".join(words)
        owner, name = _asked(owner)
    return None


def _of_module(
    node: Any, first: str, name: str, rules: Rules
) -> Iterator[tuple[int, int, str, str, str]]:
    is_contrib = name.partition(".")[0] == "contrib"
    rule = rules.of(name) if is_contrib else rules.gone(name)
    seen = (first + "." + name).lstrip(".")
    if rule:
        seen += ": below tensorflow, imported by a string"
        yield node.lineno, node.col_offset + 1, rule, seen, string_rules.instead(name)
    elif rules.first and names.is_first_generation(name):
        seen += ": tensorflow, imported by a string, has it in compat.v1"
        instead = "import tensorflow.compat.v1 as %s" % (first or "tf").rpartition(".")[2]
        yield node.lineno, node.col_offset + 1, rules.first, seen, instead


def _asked(node: Any) -> tuple[Any, str]:
    """(x, "name") of ``x.name``, ``getattr(x, "name")``, ``vars(x)["name"]``; else None for x."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Subscript):
        owner, name = walks.owner_of_members(node.value), walks.text(walks.index_of(node))
        return (owner, name) if name else (None, "")
    is_asked = (
        isinstance(node, ast.Call)
        and walks.last_word(node.func) == "getattr"
        and len(node.args) == 2
    )
    name = walks.text(node.args[1]) if is_asked else None
    return (node.args[0], name) if name else (None, "")


def _gives_tensorflow(node: Any) -> bool:
    """Whether an expression is the module of that name, by a string."""
    if isinstance(node, ast.Call) and node.args:
        word = walks.last_word(node.func)
        given = node.args[:1] if word in _GIVES else node.args if "lazy" in word.lower() else ()
        return any(walks.text(each) == "tensorflow" for each in given)
    if isinstance(node, ast.Subscript) and walks.written(node.value) == "sys.modules":
        return walks.text(walks.index_of(node)) == "tensorflow"
    return False
