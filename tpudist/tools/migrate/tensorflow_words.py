"""The words of each file that may be TensorFlow, or a name below it.

An import of it binds them, another file of the code base gives them, or they are assigned in the
file itself, in whatever scope: too many rather than too few. A word that is assigned a list, or
loops over one, may be each of its elements. What goes through a call is not followed: it is told
where it is handed on.
"""

from __future__ import annotations

import ast
import functools
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping, Set, Tuple

from tpudist import surfaces
from tpudist.surfaces.eras import local_names, walks
from tpudist.surfaces.eras.local_names import joined
from tpudist.surfaces.eras.names import is_first_generation, without_compat
from tpudist.tools.migrate import rules
from tpudist.tools.migrate.resolution import builtin_calls, tensorflow_names

#: {word: {(the name below ``tf`` that it may be, the file whose import binds it)}}. A word is
#: "name", ".attribute" of whatever object, or "*" for every name of TensorFlow.
Words = Dict[str, Set[Tuple[str, str]]]

_CALLED = ("tf", "tensorflow")  # whatever they are, they are called so
_ASSIGNING = (ast.Assign, ast.AnnAssign, getattr(ast, "NamedExpr", ast.Assign))
_NAMED = (ast.Subscript, getattr(ast, "NamedExpr", ast.Subscript))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def borrowed(
    nodes: walks.Nodes, find: Callable[[str, int], str | None], lent: Mapping[str, Words]
) -> Words:
    """The words that other files alone give a file, by ``from a import b`` and as ``a.b``.

    Args:
      nodes: all nodes of the file.
      find: the file that a module and a number of leading dots mean in an import, or None.
      lent: {path: `Words`} of the files that were read before.
    """
    found: Words = {}
    own = {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes.of(*walks.IMPORTS)
        for alias in node.names
    }
    for node in nodes.of(ast.ImportFrom):
        module, level = node.module or "", node.level
        theirs = lent.get(find(module, level) or "", {})
        for alias in node.names:
            if alias.name == "*":
                _add(found, ((word, theirs[word]) for word in _names(theirs) - own))
            else:
                _add(found, [(alias.asname or alias.name, _given(theirs, alias.name))])
                _add_members(found, lent.get(find(joined(module, alias.name), level) or "", {}))
    for node in nodes.of(ast.Import):
        for alias in node.names:
            _add_members(found, lent.get(find(alias.name, 0) or "", {}))
    for word, _ in _imported(nodes):
        found.pop(word, None)
    return found


def _names(words: Words) -> set[str]:
    """The words that a module has as attributes."""
    return {word for word in words if word[0] != "."}


def _given(theirs: Words, name: str) -> set[tuple[str, str]]:
    if name in theirs or "*" not in theirs:
        return theirs.get(name, set())
    return {(joined(below, name), path) for below, path in theirs["*"]}


def _add(words: Words, more: Iterable[tuple[str, set[tuple[str, str]]]]) -> None:
    for word, values in more:
        if values:
            words.setdefault(word, set()).update(values)


def _add_members(words: Words, theirs: Words) -> None:
    """Adds the words of an imported module, which a file reads as its attributes."""
    _add(words, (("." + word, theirs[word]) for word in _names(theirs)))


def of_file(path: str, nodes: walks.Nodes, given: Words) -> Words:
    """The words of a file.

    Args:
      path: the file.
      nodes: all its nodes.
      given: those that other files give it.
    """
    words: Words = {word: set(values) for word, values in given.items()}
    _add(words, ((word, {(below, path)}) for word, below in _imported(nodes)))
    assigned = list(_assigned(nodes))
    for _ in range(2):  # a method may read what one below it assigns
        for word, value in assigned:
            _add(words, [(word, set(_values(words, value)))])
    return words


def used(nodes: walks.Nodes, words: Words) -> Words:
    """Those of some words that a file reads."""
    read: set[str] = set()
    if words:
        read = {node.id for node in nodes.of(ast.Name)}
        read |= {"." + node.attr for node in nodes.of(ast.Attribute)}
        read.add("*")
    return {word: values for word, values in words.items() if word in read}


def _imported(nodes: walks.Nodes) -> Iterator[tuple[str, str]]:
    """(word, the name below ``tf`` that an import of TensorFlow binds it to); "*" for a star."""
    for node in nodes.of(ast.Import):
        for alias in node.names:
            full = alias.name if alias.asname else alias.name.split(".")[0]
            below = _below_tensorflow(full)
            if below is not None:
                yield alias.asname or full, below
    for node in nodes.of(ast.ImportFrom):
        for alias in () if node.level else node.names:
            full = joined(node.module, "" if alias.name == "*" else alias.name)
            below = _below_tensorflow(full)
            if below is not None:
                yield alias.asname or alias.name, below


def _below_tensorflow(full: str) -> str | None:
    """The name below ``tf`` that a full name means, with the ``compat.v1`` that it begins with."""
    below = local_names.below_tensorflow(full)
    return tensorflow_names.below_tensorflow(full) if below is None else below


def _assigned(nodes: walks.Nodes) -> Iterator[tuple[str, Any]]:
    """Yields (word, value) of each assignment, loop, and parameter with a default."""
    for node in nodes.of(*_ASSIGNING):
        for target in node.targets if type(node) is ast.Assign else [node.target]:
            yield from _targets(target, node.value)
    for owner in nodes.of(ast.ClassDef):
        for node in owner.body:
            for target in node.targets if type(node) is ast.Assign else ():
                if type(target) is ast.Name:
                    yield "." + target.id, node.value
    for node in nodes.of(ast.For, ast.comprehension):
        yield from _targets(node.target, node.iter)
    for node in nodes.of(*_FUNCTIONS):
        every = [*getattr(node.args, "posonlyargs", ()), *node.args.args]
        pairs = list(zip(every[::-1], node.args.defaults[::-1]))
        for parameter, default in pairs + list(zip(node.args.kwonlyargs, node.args.kw_defaults)):
            yield parameter.arg, default


def _targets(target: Any, value: Any) -> Iterator[tuple[str, Any]]:
    if type(target) is ast.Name:
        yield target.id, value
    elif type(target) is ast.Attribute:
        yield "." + target.attr, value
    elif type(target) is ast.Tuple and type(value) is ast.Tuple:
        for each in zip(target.elts, value.elts):
            yield from _targets(*each)


def _values(words: Words, node: Any) -> Iterator[tuple[str, str]]:
    """What an expression may be, as of `Words`."""
    kind = type(node)
    if kind in (ast.Attribute, ast.Name):
        yield from of_name(words, node)
    elif kind in (ast.IfExp, ast.BoolOp):
        for each in node.values if kind is ast.BoolOp else [node.body, node.orelse]:
            yield from _values(words, each)
    elif kind in (ast.Tuple, ast.List, ast.Set, ast.Dict):
        for each in node.values if kind is ast.Dict else node.elts:
            yield from _values(words, each)
    elif kind in _NAMED:
        yield from _values(words, node.value)
    elif kind is ast.Call and _gives_a_name(node):
        for text in filter(None, map(walks.text, node.args)):
            below = _below_tensorflow(text)
            if below is not None:
                yield below, ""
            for above, path in _values(words, node.args[0]):
                yield joined(above, text), path


def _gives_a_name(call: ast.Call) -> bool:
    """Whether a call is ``import_module("tensorflow.a")``, ``getattr(tf, "a")`` or their kin."""
    word = walks.last_word(call.func)
    return word in (*builtin_calls.IMPORTING, "__import__", "getattr") or "lazy" in word.lower()


def of_name(words: Words, node: Any) -> Iterator[tuple[str, str]]:
    """What ``a.b.c`` may be, as of `Words`: below what one of its words is."""
    below: list[str] = []
    while type(node) is ast.Attribute:
        for above, path in words.get("." + node.attr, ()):
            yield joined(above, *below), path
        below.insert(0, node.attr)
        node = node.value
    if type(node) in _NAMED:
        for above, path in _values(words, node):
            yield joined(above, *below), path
    elif type(node) is ast.Name:
        for above, path in words.get(node.id, ()):
            yield joined(above, *below), path


def is_legacy(words: Words, nodes: walks.Nodes) -> bool:
    """Whether a file names what a rule asks for, or hands TensorFlow itself on as a value.

    Args:
      words: those of the file; ``tf`` is one, whatever it is.
      nodes: all its nodes.
    """
    words = {**{word: {("", "")} for word in _CALLED}, **words}
    whole = {word for word, values in words.items() if any(not below for below, _ in values)}
    parts = [node.value for node in nodes.of(ast.Attribute)]
    names = [node for node in nodes.of(ast.Name) if node.id in whole and _is_read(node)]
    return (
        "*" in words
        or len(names) > sum(type(each) is ast.Name and each.id in whole for each in parts)
        or any(
            _is_asked_for(dotted)
            for node in nodes.of(ast.Attribute, ast.Name)
            for dotted, _ in of_name(words, node)
        )
    )


def _is_read(name: ast.Name) -> bool:
    return type(name.ctx) is ast.Load


def may_hold(words: Iterable[str], node: Any) -> bool:
    """Whether a Name or Attribute may be, or be below, one of some words of its file."""
    while type(node) is ast.Attribute:
        if "." + node.attr in words:
            return True
        node = node.value
    if type(node) in _NAMED:
        return may_hold(words, node.value)
    if type(node) is ast.Name:
        return node.id in words or "*" in words
    return type(node) is ast.Call and _gives_a_name(node)


@functools.lru_cache(maxsize=None)
def _asked() -> frozenset[str]:
    """The names below ``tf`` that the rules ask for."""
    return frozenset(name for rule in rules.load() for kind, name in rule.uses if kind == "tf")


@functools.lru_cache(maxsize=4000)
def _is_asked_for(dotted: str) -> bool:
    """Whether a rule asks for a name below ``tf``, or for what calling it gives."""
    plain = without_compat(dotted)
    return (
        plain in _asked()
        or plain.partition(".")[0] in ("contrib", "keras", "python", "core")
        or is_first_generation(plain)
        or surfaces.gone_today(plain) is not None
        or tensorflow_names.result_of(plain) is not None
    )
