"""The lines of a file with something that a rule may ask for: the others are not read."""

from __future__ import annotations

import ast
import collections
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tpudist import surfaces
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.names import is_called_like_a_strategy, without_compat
from tpudist.tools.migrate import common_members, keras_calls, rules
from tpudist.tools.migrate.asked_names import is_asked_for, is_of_today
from tpudist.tools.migrate.handed_on import GIVING_BACK
from tpudist.tools.migrate.resolution import gone_words

if TYPE_CHECKING:
    from typing import AbstractSet, Container, Iterable, Iterator

_MODULES = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")
_TYPE = re.compile(r"(?:\w+\[)*(?:tf|tensorflow)\.([\w.]+)[\], ]*\Z")
_KEYS = [(rule.name, *key) for rule in rules.load() for key in rule.uses]
#: Last words of names below ``tf`` that a rule asks for; of contrib's, that word.
_ASKED = frozenset(
    name.rpartition(".")[2]
    for rule, kind, name in _KEYS
    if kind in ("tf", "any")
    and name != "compile"
    and not name.startswith("contrib")
    and rule not in ("sessions", "gone-names")
) | {"contrib"}
#: Methods that are asked for on whatever they stand; a program may have its own.
_METHODS = frozenset(name for _, kind, name in _KEYS if kind == "any") | gone_words.KERAS_CALLS
_METHODS |= frozenset(name[1:] for name in surfaces.KERAS_ARGUMENTS if name.startswith("."))
#: {member of strategies, or of what comes from them: the kinds that have it}.
MEMBERS: dict[str, set[str]] = {}
for _, _kind, _name in _KEYS:
    if _kind not in ("tf", "any", "call"):
        MEMBERS.setdefault(_name, set()).add(_kind)
#: Functions that ask for a member by a string, and what all of them are asked of by one.
_BY_NAME = frozenset(
    ["getattr", "hasattr", "setattr", "delattr", "object", "methodcaller", "attrgetter"]
)
_OF_ALL_MEMBERS = frozenset(["vars", "__dict__"])
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


class Asked(NamedTuple):
    """What a file has that a rule may ask for.

    Args:
      lines: where.
      words: names that those of TensorFlow begin with, or are kept under.
      members: names that strategies have, or what comes from them: asked for by a name or a
        string, or defined.
    """

    lines: set[int]
    words: frozenset[str]
    members: frozenset[str]


def of(nodes: walks.Nodes, lent: AbstractSet[str]) -> Asked:
    """What there is in a file.

    Args:
      nodes: all its nodes, as of `walks.nodes`.
      lent: words that stand for TensorFlow's names, or for functions that give one.
    """
    imports = nodes.of(*walks.IMPORTS)
    modules, words = _imported(imports)
    names = _names(nodes)
    words = _assigned(nodes.of(ast.Assign), names, words, lent, modules)
    found = {node.lineno for node in imports} | _first_told(names, modules)
    found |= {
        node.lineno
        for node in nodes.of(ast.Constant)
        if isinstance(node.value, str) and ("contrib" in node.value or _is_type(node.value))
    }
    asked = (_ASKED | words).union(each for each in names if each.endswith("Resolver"))
    found |= {node.lineno for node in _called(names, asked)}
    found |= _handing_on(names, modules, nodes)
    if "keras" in names or any("keras" in word for word in _words_of(imports)):
        found |= _of_keras(names, nodes)
    # Others may call them: they are no methods of Keras's.
    found |= {each.lineno for each in nodes.of(ast.FunctionDef) if each.name in _METHODS}
    return Asked(found, frozenset(words.union(modules)), _members(names, nodes, modules))


def _names(nodes: walks.Nodes) -> dict[str, list[Any]]:
    """{word: the Attributes and Names of it}."""
    found = collections.defaultdict(list)
    for node in nodes.of(ast.Attribute):
        found[node.attr].append(node)
    for node in nodes.of(ast.Name):
        found[node.id].append(node)
    return dict(found)


def _members(
    names: dict[str, list[Any]], nodes: walks.Nodes, modules: dict[str, str]
) -> frozenset[str]:
    others = {id(each) for each in common_members.of_others(nodes.of(ast.Call))}
    own = _only_modules(names, nodes, modules)
    found = {
        word
        for word in MEMBERS.keys() & names
        for node in names[word]
        if type(node) is ast.Attribute and id(node) not in others
        and not (word in common_members.COMMON and getattr(node.value, "id", "") in own)
    }  # fmt: skip
    defined = nodes.of(ast.FunctionDef, ast.AsyncFunctionDef)
    found.update(each.name for each in defined if each.name in MEMBERS)
    found.update(_members_in_strings(names, nodes))
    return frozenset(found)


def _only_modules(
    names: dict[str, list[Any]], nodes: walks.Nodes, modules: dict[str, str]
) -> set[str]:
    """The words that stand for modules and nothing else: ``tf.group`` is no strategy's."""
    found = {word for word, below in modules.items() if not below}
    for node in nodes.of(ast.Import):
        found.update(each.asname or each.name.partition(".")[0] for each in node.names)
    found = {word for word in found if not is_called_like_a_strategy(word)}
    found -= {node.arg for node in nodes.of(ast.arg)}
    return {
        word
        for word in found
        if all(type(getattr(node, "ctx", None)) is not ast.Store for node in names.get(word, ()))
    }


def _members_in_strings(names: dict[str, list[Any]], nodes: walks.Nodes) -> Iterator[str]:
    """The members that ``getattr(x, "name")`` and its kin ask for."""
    texts = nodes.of(ast.Constant) if names.keys() & _OF_ALL_MEMBERS else []
    for call in nodes.of(ast.Call) if names.keys() & _BY_NAME else ():
        if walks.last_word(call.func) in _BY_NAME:
            texts = texts + call.args
    for node in texts:
        text = getattr(node, "value", None)
        if type(text) is str and text.rpartition(".")[2] in MEMBERS:
            yield text.rpartition(".")[2]


def _is_type(text: str) -> bool:
    """Whether a string may be a type that today's TensorFlow has not."""
    found = _TYPE.match(text) if "tf." in text or "tensorflow." in text else None
    return found is not None and surfaces.gone_today(without_compat(found.group(1))) is not None


def _words_of(imports: Iterable[Any]) -> Iterator[str]:
    """The words that import statements have."""
    for node in imports:
        yield getattr(node, "module", "") or ""
        yield from (alias.name for alias in node.names)


def _of_keras(names: dict[str, list[Any]], nodes: walks.Nodes) -> set[int]:
    """The lines of what `keras_calls` asks for."""
    found = {node.lineno for node in _called(names, gone_words.KERAS_CALLS)}
    for call in nodes.of(ast.Call):
        if call.keywords:
            name = walks.last_word(call.func)
            owner = walks.last_word(getattr(call.func, "value", None))
            if any(keras_calls.asks(name, owner, each.arg or "") for each in call.keywords):
                found.add(call.lineno)
    for node in _called(names, surfaces.KERAS_SHAPES.keys()):
        if walks.last_word(getattr(node, "value", None)) != "self":
            found.add(node.lineno)
    for node in names.get("lr", ()):
        owner = walks.last_word(node.value) if isinstance(node, ast.Attribute) else ""
        if owner == "self" or keras_calls.is_optimizer(owner):
            found.add(node.lineno)
    return found


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
    statements: Iterable[ast.Assign],
    names: dict[str, list[Any]],
    words: set[str],
    lent: AbstractSet[str],
    modules: dict[str, str],
) -> set[str]:
    """Some words, and those that what they stand for is assigned to."""
    own, words = words.union(modules), words | lent  # of what TensorFlow's own functions give, none
    size = -1
    while len(words) > size:
        size = len(words)
        lines = {node.lineno for node in _called(names, words | _ASKED)}
        for node in statements:
            of_node = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            is_one = not lines.isdisjoint(of_node) and _may_be_one(node.value, words | _ASKED, own)
            if is_one or _is_asked(node.value, modules):
                new = {word for target in node.targets for word in _targets(target)}
                if _dotted(node.value).partition(".")[0] in own:
                    own |= new - words
                words |= new
    return words


def _may_be_one(node: ast.AST, words: Container[str], own: Container[str]) -> bool:
    """Whether an expression may be a module or a function that one of some words stands for."""
    if isinstance(node, ast.Call):
        if walks.last_word(node.func) in GIVING_BACK:
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
        yield walks.last_word(node)
    elif isinstance(node, ast.Subscript):
        yield from _targets(node.value)
    else:
        for each in getattr(node, "elts", None) or [getattr(node, "value", None)]:
            yield from _targets(each) if each is not None else ()


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
    names: dict[str, list[Any]], modules: dict[str, str], nodes: walks.Nodes
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
    inner = {id(node.value) for node in nodes.of(ast.Attribute)} if found else ()
    return {node.lineno for node in found if id(node) not in inner}


def _dotted(node: ast.AST) -> str:
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return ".".join([node.id] + words[::-1]) if isinstance(node, ast.Name) else ""
