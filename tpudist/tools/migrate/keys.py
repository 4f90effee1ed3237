"""Explains the keys of findings: ``tpudist migrate --list-rules [KEY]``."""

from __future__ import annotations

import configparser
import inspect
import os

from tpudist.errors import MigrateError
from tpudist.tools.migrate import imports, indirect_names, rules
from tpudist.tools.migrate.rules import Rule

_GUIDE = "https://www.tensorflow.org/guide/migrate"


def every() -> list[Rule]:
    """All rules in order, and the other kinds of findings, whose step is "all"."""
    besides = {
        rules.IMPORTS: imports.__doc__ or "",
        indirect_names.NAME: indirect_names.__doc__ or "",
        "notebook": "Lines of notebooks that are not read as Python.",
    }
    return rules.load() + [
        Rule(name, "all", _GUIDE, frozenset(), lambda use: None, inspect.cleandoc(text))
        for name, text in besides.items()
    ]


def listed() -> str:
    """All keys, each with a sentence and its note."""
    return "\n".join(
        "%s (to %s)\n    %s\n    %s" % (key.name, key.step, key.summary, key.note)
        for key in every()
    )


def explained(name: str) -> str:
    """The explanation of a key: the release note, what to type, and an example."""
    known = {key.name: key for key in every()}
    if name not in known:
        raise MigrateError("key %r" % name, "there is no such key", "one of " + ", ".join(known))
    key, said = known[name], _said()[name]
    lines = ["%s (to %s)" % (key.name, key.step), "", key.text, "", key.note]
    if "type" in said:
        lines += ["", "Type: " + said["type"]]
    if "before" in said:
        lines += ["", "    " + said["before"], "    -> " + said.get("after", "it is told")]
    return "\n".join(lines)


def _said() -> configparser.ConfigParser:
    """{key: what to type, and an example}."""
    found = configparser.ConfigParser(interpolation=None)
    with open(os.path.join(os.path.dirname(__file__), "keys.cfg"), encoding="utf-8") as file:
        found.read_file(file)
    return found
