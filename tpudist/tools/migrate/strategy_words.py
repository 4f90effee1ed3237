"""Words without which no file makes a strategy, or has a name of one: looked for before parsing."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpudist.surfaces.eras import walks
from tpudist.tools.migrate import common_members, rules
from tpudist.tools.migrate.resolution import contents

if TYPE_CHECKING:
    from typing import Iterator

_OWN = {
    name for rule in rules.load() for kind, name in rule.uses if kind in ("strategy", "resolver")
} - set(common_members.COMMON)
#: What makes a strategy, or the context of one.
_MADE = re.compile(
    rb"Strategy(?:V[12])?\b|get_\w*(?:strategy|tower_context|replica_context)\b|tpudist"
    rb"|\bdistribute="
)
_MAKING = re.compile(_MADE.pattern.decode("ascii"))
#: Where the names of Python's own trees stand.
_NAMED = {
    ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg", ast.arg: "arg",
    ast.FunctionDef: "name", ast.AsyncFunctionDef: "name", ast.ClassDef: "name",
    ast.Constant: "value",
}  # fmt: skip
#: Words of which a file has one that the pattern is found in; to look for them takes no time.
_IN_MADE = (b"Strategy", b"strategy", b"_context", b"tpudist", b"distribute=")
_COMMON = "|".join(common_members.COMMON).encode("ascii")
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


def makes_strategies(raw: bytes) -> bool:
    """Whether a file has a word without which no strategy is made in it."""
    return any(word in raw for word in _IN_MADE) and bool(_MADE.search(raw))


def makes_strategies_in_code(raw: bytes, nodes: walks.Nodes) -> bool:
    """As `makes_strategies`, of what is no comment and no text.

    Args:
      raw: the file's bytes.
      nodes: all its nodes, as of `walks.nodes`.
    """
    if not makes_strategies(raw):
        return False
    return b"tpudist" in raw or any(_MAKING.search(word) for word in _words_in(nodes))


def _words_in(nodes: walks.Nodes) -> Iterator[str]:
    """The names in some nodes, and strings that may be one."""
    for node in nodes:
        kind = type(node)
        if kind in _NAMED:
            word = getattr(node, _NAMED[kind])
            if type(word) is str and " " not in word:
                yield word + "=" if kind is ast.keyword else word
        elif isinstance(node, walks.IMPORTS):
            yield getattr(node, "module", None) or ""
            yield from (alias.name for alias in node.names)


def uses_strategies(raw: bytes) -> bool:
    """Whether a file has a name of strategies, on whatever it stands."""
    lower = raw.lower()
    return any(
        word in lower and re.search(_PATTERNS[word], lower) is not None
        for part, words in _GROUPS.items()
        if part in lower
        for word in words
    )
