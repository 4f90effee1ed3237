"""The rules; each implements one release note.

``rules.cfg`` has the row of each, in the order in which they are asked. What a rule does with a
`tpudist.tools.migrate.use.Use` is a function under `rule` in a module of this folder, or a table's
(`tpudist.tools.migrate.rules.gone_names`). A row without a function explains a key of findings.
"""

from __future__ import annotations

import configparser
import functools
import importlib
import os
from typing import TYPE_CHECKING, Callable, Iterable, NamedTuple

from tpudist.errors import MigrateError
from tpudist.tools.migrate.use import Use

if TYPE_CHECKING:
    #: What a rule does with a use.
    Function = Callable[[Use], None]

_MODULES = (
    *("contrib_homes", "datasets", "generations", "gone_names", "keras", "strategies"),
    "tpu_system",
)
#: The rule that is not asked about names: imports follow from what is rewritten.
IMPORTS = "imports"


class Rule(NamedTuple):
    """One rule, or another key of findings."""

    name: str  # what marks and options call it
    step: str  # the step that needs it: "2.0", "2.2" or "latest"; "all" of a key that is no rule
    note: str  # the release note or reference page that it implements
    uses: frozenset[tuple[str, str]]  # the (kind, name) pairs that it is asked about
    apply: Function  # what it does with a use
    text: str  # what it does, at length; the first line is a sentence of its own
    why: str | None  # why it leaves a name, where the table alone makes the rule
    type: str | None  # what to type where it leaves something
    example: tuple[str, str]  # a line before, and after; ("", "") if there is none


#: {name: (uses, function)} of the rules whose modules are imported.
_FUNCTIONS: dict[str, tuple[frozenset[tuple[str, str]], Function]] = {}


def rule(name: str, uses: Iterable[tuple[str, str]]) -> Callable[[Function], Function]:
    """Makes a function a rule, which is asked about `uses`: (kind, name) pairs."""

    def decorate(apply: Function) -> Function:
        _FUNCTIONS[name] = frozenset(uses), apply
        return apply

    return decorate


@functools.lru_cache(maxsize=None)
def table() -> configparser.ConfigParser:
    """The rows of ``rules.cfg``."""
    found = configparser.ConfigParser(interpolation=None)
    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "rules.cfg")
    with open(path, encoding="utf-8") as file:
        found.read_file(file)
    return found


@functools.lru_cache(maxsize=None)
def load() -> tuple[Rule, ...]:
    """All rules and other keys, in the order of the table."""
    for name in _MODULES:
        importlib.import_module("%s.%s" % (__name__, name))
    found = []
    for name in table().sections():
        row = table()[name]
        uses, apply = _FUNCTIONS.get(name, (frozenset(), lambda use: None))
        text, get = row["text"].replace("\n|", "\n"), row.get
        example = get("before", ""), get("after", "it is reported")
        texts = text, get("why"), get("type"), example
        found.append(Rule(name, row["step"], row["note"], uses, apply, *texts))
    return tuple(found)


def words() -> dict[str, str]:
    """{key: what to type} of those whose row says it."""
    return {key.name: key.type for key in load() if key.type}


def listed() -> str:
    """All keys, each with a sentence and its note."""
    return "\n".join(
        "%s (to %s)\n    %s\n    %s" % (key.name, key.step, key.text.split("\n")[0], key.note)
        for key in load()
    )


def explained(name: str) -> str:
    """The explanation of a key: the release note, what to type, and an example."""
    known = {key.name: key for key in load()}
    if name not in known:
        raise MigrateError("key %r" % name, "there is no such key", "one of " + ", ".join(known))
    key = known[name]
    lines = ["%s (to %s)" % (key.name, key.step), "", key.text, "", key.note]
    if key.type:
        lines += ["", "Type: " + key.type]
    if key.example[0]:
        lines += ["", "    %s\n    -> %s" % key.example]
    return "\n".join(lines)
