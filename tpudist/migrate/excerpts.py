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
from tpudist.migrate import keras_calls, legacy_uses, rules
from tpudist.resolution import contents, gone_words, python_trees

if TYPE_CHECKING:
    from typing import Iterable, Iterator

Definition = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MARK = re.compile(r'"""tpudist:(\d+)\s*"""')
_MODULES = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")
_TYPE = re.compile(r"(?:\w+\[)*(?:tf|tensorflow)\.([\w.]+)[\], ]*\Z")
_KEYS = [(rule.name, *key) for rule in rules.load() for key in rule.uses]
_OWN = {name for _, kind, name in _KEYS if kind in ("strategy", "resolver")}
_OWN -= set(legacy_uses.COMMON)
#: What makes a strategy, or the context of one.
_MADE = re.compile(
    rb"Strategy(?:V[12])?\b|get_\w*(?:strategy|tower_context|replica_context)\b|tpudist"
    rb"|\bdistribute="
)
#: Words of which a file has one that the pattern is found in; to look for them takes no time.
_IN_MADE = (b"Strategy", b"strategy", b"_context", b"tpudist", b"distribute=")
_COMMON = "|".join(legacy_uses.COMMON).encode("ascii")
#: What is done with one, or with something that cannot be told, and where a resolver is asked
#: for: words in lower case, one of which it begins with, and a pattern. One that begins with a
#: word is found many times as fast.
_USED: list[tuple[bytes, bytes]] = [
    *(
        (word, word + rb"\w*(?:\.|[\"', ]+)(?:%s)\b" % _COMMON)
        for word in (b"strateg", b"distribution", b"replicator")
    ),
    *((word, b"") for word in (b"variableaggregation", b"reduceop", b"connect_to_host")),
    (b"deviceassignment", b""),
    (b"initialize", rb"initialize(?:_tpu)?_system"),
    *(
        (name, rb"%s\b(?<!\w%s)" % (name, name))
        for name in (word.lower().encode("ascii") for word in sorted(_OWN))
    ),
]
_PATTERNS = dict(_USED)
_GROUPS = contents.grouped(_PATTERNS)
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


def makes_strategies(raw: bytes) -> bool:
    """Whether a file has a word without which no strategy is made in it."""
    return any(word in raw for word in _IN_MADE) and bool(_MADE.search(raw))


def uses_strategies(raw: bytes) -> bool:
    """Whether a file has a name of strategies, on whatever it stands."""
    lower = raw.lower()
    return any(
        word in lower and re.search(_PATTERNS[word], lower) is not None
        for part, words in _GROUPS.items()
        if part in lower
        for word in words
    )


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
    roots, words = _imported(imports)
    names: dict[str, list[Any]] = {}
    for node in kinds.get(ast.Attribute, []):
        names.setdefault(node.attr, []).append(node)
    for node in kinds.get(ast.Name, []):
        names.setdefault(node.id, []).append(node)
    found = {node.lineno for node in imports} | _first_told(names, roots)
    found |= {
        node.lineno
        for node in kinds.get(ast.Constant, [])
        if isinstance(node.value, str) and ("contrib" in node.value or _is_type(node.value))
    }
    found |= _lines_with(names, _ASKED) | _handing_on(names, roots, kinds)
    if "keras" in names or any("keras" in word for word in _modules(imports)):
        found |= _of_keras(names, kinds)
    assigned = kinds.get(ast.Assign, [])
    while True:
        found |= _lines_with(names, words)
        new = {
            _word(target)
            for node in assigned
            if _may_hand_on(node.value, roots)
            and not found.isdisjoint(range(node.lineno, getattr(node, "end_lineno", 0) + 1))
            for target in _targets(node)
        } - (words | {""})
        if not new:
            return found, frozenset(words | roots)
        words |= new


def _is_type(text: str) -> bool:
    """Whether a string may be a type that today's TensorFlow has not."""
    found = _TYPE.match(text) if "tf." in text or "tensorflow." in text else None
    return found is not None and surfaces.gone_today(without_compat(found.group(1))) is not None


def _modules(imports: Iterable[Any]) -> Iterator[str]:
    """The words that import statements have."""
    for node in imports:
        yield getattr(node, "module", "") or ""
        yield from (alias.name for alias in node.names)


def _of_keras(names: dict[str, list[Any]], kinds: dict[type, list[Any]]) -> set[int]:
    """The lines of what `keras_calls` asks for."""
    found = _lines_with(names, gone_words.KERAS_CALLS)
    for call in kinds.get(ast.Call, ()):
        if call.keywords:
            asked = keras_calls.keywords(_word(call.func))
            if any(each.arg in asked for each in call.keywords):
                found.add(call.lineno)
    for node in names.get("lr", ()):
        owner = _word(node.value) if isinstance(node, ast.Attribute) else ""
        if owner == "self" or keras_calls.is_optimizer(owner):
            found.add(node.lineno)
    own = kinds.get(ast.FunctionDef, ()) if found else ()
    return found | {each.lineno for each in own if each.name in _METHODS}


def _lines_with(names: dict[str, list[Any]], words: Iterable[str]) -> set[int]:
    return {node.lineno for word in words for node in names.get(word, ())}


def _may_hand_on(node: ast.AST, roots: set[str]) -> bool:
    """Whether an expression may be a module or a function that it names."""
    if isinstance(node, ast.Call):  # not what TensorFlow's own functions return
        return _dotted(node.func).partition(".")[0] not in roots
    return not isinstance(node, (ast.BinOp, ast.Compare, ast.Constant))


def _targets(node: ast.Assign) -> Iterator[ast.AST]:
    for target in node.targets:
        yield from ast.walk(target)


def _imported(nodes: Iterable[ast.Import | ast.ImportFrom]) -> tuple[set[str], set[str]]:
    """(names of TensorFlow itself, names of what else is imported from it)."""
    roots, words = set(), set()
    for node in nodes:
        base = "%s." % node.module if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            full, bound = base + alias.name, alias.asname or alias.name
            if full in _MODULES:
                roots.add(bound.partition(".")[0])
            elif full.startswith("tensorflow"):
                words.add(bound.partition(".")[0])
    return roots, words


def _first_told(names: dict[str, list[Any]], roots: set[str]) -> set[int]:
    """The first line of each name that is told once a file, of each way to spell it."""
    found: dict[str, int] = {}
    for node in [each for word in _TOLD_LAST for each in names.get(word, ())]:
        dotted = _dotted(node)
        root, _, below = dotted.partition(".")
        below = without_compat(below)
        if root in roots and below in _TOLD_ONCE:
            found[dotted] = min(found.get(dotted, node.lineno), node.lineno)
    own = [node for word in gone_words.OWN_MODULES for node in names.get(word, ())]
    own_lines = {node.lineno for node in own if _dotted(node).partition(".")[0] in roots}
    return own_lines.union(found.values())


def _handing_on(
    names: dict[str, list[Any]], roots: set[str], kinds: dict[type, list[Any]]
) -> set[int]:
    """The lines where a module above such names is not asked for one: ``K = tf.keras.backend``."""
    found = [
        node
        for word in _ABOVE_LAST
        for node in names.get(word, ())
        for root, _, below in [_dotted(node).partition(".")]
        if root in roots and without_compat(below) in _ABOVE
    ]
    inner = {id(node.value) for node in kinds.get(ast.Attribute, ())} if found else ()
    return {node.lineno for node in found if id(node) not in inner}


def _word(node: ast.AST) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def _dotted(node: ast.AST) -> str:
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return ".".join([node.id] + words[::-1]) if isinstance(node, ast.Name) else ""
