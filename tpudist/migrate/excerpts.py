"""The part of a file that a migration may change: reading only that is many times as fast.

In a file that no strategy can reach, a function without a name of contrib, an import or
another name that a rule asks for changes nothing, and nothing is told about it. It is
read as a string of as many lines, and put back afterwards.
"""

from __future__ import annotations

import array
import ast
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from tpudist import surfaces
from tpudist.eras import walks
from tpudist.eras.names import without_compat
from tpudist.migrate import keras_calls, rules
from tpudist.migrate.handed_on import GIVING_BACK, is_asked_for, is_of_today
from tpudist.resolution import gone_words, python_trees

if TYPE_CHECKING:
    from typing import AbstractSet, Container, Iterable, Iterator

Definition = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MARK = re.compile(r'"""tpudist:(\d+)\s*"""')
_MODULES = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")
_TYPE = re.compile(r"(?:\w+\[)*(?:tf|tensorflow)\.([\w.]+)[\], ]*\Z")
_KEYS = [(rule.name, *key) for rule in rules.load() for key in rule.uses]
#: Last words of names below ``tf`` that a rule asks for; of contrib's, that word.
_ASKED = frozenset(
    name.rpartition(".")[2]
    for rule, kind, name in _KEYS
    if kind in ("tf", "keras")
    and name != "compile"
    and not name.startswith("contrib")
    and rule not in ("sessions", "gone-names")
) | {"contrib"}
#: Methods of Keras, which a program may have of its own.
_METHODS = frozenset(name for _, kind, name in _KEYS if kind == "keras") | gone_words.KERAS_CALLS
_METHODS |= frozenset(name[1:] for name in surfaces.KERAS_ARGUMENTS if name.startswith("."))
_TOLD_ONCE = frozenset(name for rule, _, name in _KEYS if rule == "gone-names")
_TOLD_LAST = frozenset(name.rpartition(".")[2] for name in _TOLD_ONCE)
#: The modules above them; as a whole they may be assigned or handed on.
_ABOVE = frozenset(
    ".".join(name.split(".")[:end])
    for name in (*_TOLD_ONCE, *surfaces.RENAMED_TODAY)
    for end in range(1, name.count(".") + 1)
)
_ABOVE_OR_TOLD = _ABOVE | _TOLD_ONCE
_ABOVE_LAST = frozenset(name.rpartition(".")[2] for name in _ABOVE)


class Excerpt(NamedTuple):
    """What there is to read of a file.

    Args:
      text: its text, with what does not matter as strings.
      parts: what these stand for.
      words: names that those of TensorFlow begin with, or are kept under.
    """

    text: str
    parts: list[str]
    words: frozenset[str]


class Parts(NamedTuple):
    """Which part of a file there is to read.

    Args:
      unread: the first and the last line of each definition that does not matter.
      words: as of `Excerpt`.
      size: characters that the file has.
    """

    unread: array.array[int]
    words: frozenset[str]
    size: int


def of(text: str) -> Excerpt | None:
    """The excerpt of a file that no strategy reaches.

    Args:
      text: its source.

    Returns:
      An Excerpt of as many lines, None if it has to be read whole.
    """
    if not _is_readable(text):
        return None
    try:
        tree = python_trees.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = _parts_of(text, walks.nodes(tree))
    return None if found is None else made(text, found)


def parts(text: str, nodes: list[ast.AST]) -> Parts | None:
    """As `of`, of all nodes of a file, as of `walks.nodes`: for `made`."""
    return _parts_of(text, nodes) if _is_readable(text) else None


def made(text: str, found: Parts) -> Excerpt:
    """The excerpt of a source of which the parts are known."""
    lines, put = text.splitlines(True), []
    for index in range(0, len(found.unread), 2):
        _put_string(lines, *found.unread[index : index + 2], put)
    return Excerpt("".join(lines), put, found.words)


def _is_readable(text: str) -> bool:
    if sys.version_info < (3, 8):
        return False  # ast does not say where a definition ends
    count = len(text.splitlines())  # Python counts other lines, perhaps
    return count == text.count("\n") + (not text.endswith("\n")) and "tpudist:" not in text


def _parts_of(text: str, nodes: list[Any]) -> Parts | None:
    kept, words = _matter(nodes)
    if words.isdisjoint(["tf", "tensorflow"]) or "*" in words:
        return None  # what it takes for TensorFlow is not imported here by its name
    unread = [line for node in _unread(nodes[0].body[1:], kept) for line in _lines(node)]
    return Parts(array.array("I", unread), words, len(text))


def restored(excerpt: Excerpt, text: str) -> str | None:
    """The text of a file whose excerpt has become `text`; None if a part of it is gone."""
    if _MARK.findall(text) != [str(index) for index in range(len(excerpt.parts))]:
        return None
    return _MARK.sub(lambda mark: excerpt.parts[int(mark.group(1))], text)


def _unread(body: Iterable[ast.stmt], kept: set[int]) -> Iterator[Definition]:
    """Functions, classes and methods without a line that is kept."""
    for node in body:
        if isinstance(node, _DEFINITIONS):
            first, last = _lines(node)
            if kept.isdisjoint(range(first, last + 1)):
                yield node
            elif isinstance(node, ast.ClassDef):
                yield from _unread(node.body, kept)


def _lines(node: Definition) -> tuple[int, int]:
    first = min([node.lineno] + [each.lineno for each in node.decorator_list])
    return first, node.end_lineno or first


def _put_string(lines: list[str], first: int, last: int, parts: list[str]) -> None:
    start = lines[first - 1]
    indent = start[: len(start) - len(start.lstrip(" \t"))]
    body = "".join(lines[first - 1 : last])[len(indent) :]
    part = body.rstrip("\r\n")
    end = body[len(part) :]
    mark = '%s"""tpudist:%d' % (indent, len(parts))
    if last == first:
        new = [mark + '"""' + end]
    else:
        new = [mark + "\n"] + ["\n"] * (last - first - 1) + ['"""' + end]
    parts.append(part)
    lines[first - 1 : last] = new


def _matter(nodes: list[ast.AST]) -> tuple[set[int], frozenset[str]]:
    """(the lines with something that a rule may ask for, the names of `Excerpt.words`)."""
    kinds: dict[type, list[Any]] = {}
    for node in nodes:
        kinds.setdefault(type(node), []).append(node)
    imports = kinds.get(ast.Import, []) + kinds.get(ast.ImportFrom, [])
    modules, words = _imported(imports)
    words = _assigned(kinds.get(ast.Assign, ()), words, modules)
    names: dict[str, list[Any]] = {}
    for node in kinds.get(ast.Attribute, []):
        names.setdefault(node.attr, []).append(node)
    for node in kinds.get(ast.Name, []):
        names.setdefault(node.id, []).append(node)
    found = {node.lineno for node in imports} | _first_told(names, modules)
    found |= {
        node.lineno
        for node in kinds.get(ast.Constant, [])
        if isinstance(node.value, str) and ("contrib" in node.value or _is_type(node.value))
    }
    asked = (_ASKED | words).union(each for each in names if each.endswith("Resolver"))
    found |= {node.lineno for node in _called(names, asked)}
    found |= _handing_on(names, modules, kinds)
    if "keras" in names or any("keras" in word for word in _words_of(imports)):
        found |= _of_keras(names, kinds)
    return found, frozenset(words.union(modules))


def _is_type(text: str) -> bool:
    """Whether a string may be a type that today's TensorFlow has not."""
    found = _TYPE.match(text) if "tf." in text or "tensorflow." in text else None
    return found is not None and surfaces.gone_today(without_compat(found.group(1))) is not None


def _words_of(imports: Iterable[Any]) -> Iterator[str]:
    """The words that import statements have."""
    for node in imports:
        yield getattr(node, "module", "") or ""
        yield from (alias.name for alias in node.names)


def _of_keras(names: dict[str, list[Any]], kinds: dict[type, list[Any]]) -> set[int]:
    """The lines of what `keras_calls` asks for."""
    found = {node.lineno for node in _called(names, gone_words.KERAS_CALLS)}
    for call in kinds.get(ast.Call, ()):
        if call.keywords:
            name, owner = _word(call.func), _word(getattr(call.func, "value", None))
            if any(keras_calls.asks(name, owner, each.arg or "") for each in call.keywords):
                found.add(call.lineno)
    for node in _called(names, surfaces.KERAS_SHAPES.keys()):
        if _word(getattr(node, "value", None)) != "self":
            found.add(node.lineno)
    for node in names.get("lr", ()):
        owner = _word(node.value) if isinstance(node, ast.Attribute) else ""
        if owner == "self" or keras_calls.is_optimizer(owner):
            found.add(node.lineno)
    own = kinds.get(ast.FunctionDef, ()) if found else ()
    return found | {each.lineno for each in own if each.name in _METHODS}


def _called(names: dict[str, list[Any]], words: AbstractSet[str]) -> Iterator[Any]:
    """The nodes of some names: those are many, the names in a file few."""
    return (node for word in names.keys() & words for node in names[word])


def _imported(nodes: Iterable[ast.Import | ast.ImportFrom]) -> tuple[dict[str, str], set[str]]:
    """({TensorFlow itself, what is told once or above such names: its name}, other names)."""
    modules, words = {}, set()
    for node in nodes:
        base = "%s." % node.module if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            full, bound = base + alias.name, alias.asname or alias.name
            below = without_compat(full.partition(".")[2])
            if full in _MODULES:
                modules[bound.partition(".")[0]] = ""
            elif full.startswith("tensorflow.") and below in _ABOVE_OR_TOLD and "." not in bound:
                modules[bound] = below
            elif full.startswith("tensorflow"):
                words.add(bound.partition(".")[0])
    return modules, words


def _assigned(
    statements: Iterable[ast.Assign], words: set[str], modules: dict[str, str]
) -> set[str]:
    """Some words, and those that what they stand for is assigned to."""
    own, words = words.union(modules), set(words)  # of what TensorFlow's own functions return, none
    size = -1
    while len(words) > size:
        size = len(words)
        for node in statements:
            if _may_be_one(node.value, words | _ASKED, own) or _is_asked(node.value, modules):
                new = {word for target in node.targets for word in _targets(target)}
                if _dotted(node.value).partition(".")[0] in own:
                    own |= new - words
                words |= new
    return words


def _may_be_one(node: ast.AST, words: Container[str], own: Container[str]) -> bool:
    """Whether an expression may be a module or a function that one of some words stands for."""
    if isinstance(node, ast.Call):
        if _word(node.func) in GIVING_BACK:
            return any(_may_be_one(each, words, own) for each in node.args)
        node = node.func
        if _dotted(node).partition(".")[0] in own:
            return False
    if isinstance(node, ast.Attribute):
        return node.attr in words or _may_be_one(node.value, words, own)
    if isinstance(node, ast.Name):
        return node.id in words
    if isinstance(node, (ast.BinOp, ast.Compare, ast.Constant)):
        return False
    return any(_may_be_one(each, words, own) for each in ast.iter_child_nodes(node))


def _is_asked(node: ast.AST, modules: dict[str, str]) -> bool:
    below = _below(node, modules)
    is_one = _dotted(node).partition(".")[0] in modules
    return is_one and (is_asked_for(below) or is_of_today(below))


def _targets(node: ast.AST) -> Iterator[str]:
    """The words that are assigned to."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield _word(node)
    elif isinstance(node, ast.Subscript):
        yield from _targets(node.value)
    else:
        for each in getattr(node, "elts", None) or [getattr(node, "value", None)]:
            yield from _targets(each) if each is not None else ()


def _word(node: ast.AST) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def _below(node: ast.AST, modules: dict[str, str]) -> str:
    """The name below ``tf`` of what is asked of one of some modules; "" of anything else."""
    root, _, below = _dotted(node).partition(".")
    return without_compat((modules[root] + "." + below).strip(".")) if root in modules else ""


def _first_told(names: dict[str, list[Any]], modules: dict[str, str]) -> set[int]:
    """The first line of each name that is told once a file, of each way to spell it."""
    found: dict[str, int] = {}
    for node in _called(names, _TOLD_LAST):
        below = _below(node, modules)
        if below in _TOLD_ONCE:
            dotted = _dotted(node)
            found[dotted] = min(found.get(dotted, node.lineno), node.lineno)
    own = _called(names, frozenset(gone_words.OWN_MODULES))
    own_lines = {node.lineno for node in own if _dotted(node).partition(".")[0] in modules}
    return own_lines.union(found.values())


def _handing_on(
    names: dict[str, list[Any]], modules: dict[str, str], kinds: dict[type, list[Any]]
) -> set[int]:
    """The lines where a module above such names is not asked for one: ``K = tf.keras.backend``.

    And those where such a name is called that was imported by itself.
    """
    found = [
        node
        for node in _called(names, _ABOVE_LAST.union(modules))
        for below in [_below(node, modules)]
        if below in _ABOVE or type(node) is ast.Name and below in _TOLD_ONCE
    ]
    inner = {id(node.value) for node in kinds.get(ast.Attribute, ())} if found else ()
    return {node.lineno for node in found if id(node) not in inner}


def _dotted(node: ast.AST) -> str:
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return ".".join([node.id] + words[::-1]) if isinstance(node, ast.Name) else ""
