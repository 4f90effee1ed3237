"""What the keys of findings mean: ``tpudist migrate --list-rules [KEY]``."""

from __future__ import annotations

import configparser
import inspect
import os
from typing import NamedTuple

from tpudist.errors import MigrateError
from tpudist.tools.migrate import imports, indirect_names, outcomes, rules

_GUIDE = "https://www.tensorflow.org/guide/migrate"


class Key(NamedTuple):
    """One key.

    Args:
      name: what findings, marks and settings call it.
      step: the step that tells it, "all" if each does.
      text: what it is of, at length; the first line is a sentence of its own.
      note: a release note or page about it.
    """

    name: str
    step: str
    text: str
    note: str


def every() -> list[Key]:
    """The keys of the rules, in order, and those of what is told besides."""
    return [Key(rule.name, rule.step, rule.text, rule.note) for rule in rules.load()] + [
        Key(rules.IMPORTS, "all", inspect.cleandoc(imports.__doc__ or ""), _GUIDE),
        Key(indirect_names.NAME, "all", inspect.cleandoc(indirect_names.__doc__ or ""), _GUIDE),
        Key("notebook", "all", "Lines of notebooks that are not read as Python.", _GUIDE),
        Key(outcomes.TIME_LIMIT, "all", "A file that takes too long is left as it is.", _GUIDE),
    ]


def rules_that_run() -> list[str]:
    """The keys that ``--only`` and ``--skip`` take."""
    return [*(rule.name for rule in rules.load()), rules.IMPORTS, indirect_names.NAME]


def listed() -> str:
    """All keys, each with a sentence and its note."""
    return "\n".join(
        "%s (to %s)\n    %s\n    %s" % (key.name, key.step, key.text.split("\n")[0], key.note)
        for key in every()
    )


def explained(name: str) -> str:
    """What a key is of, the release note, what to type and an example.

    Raises:
      MigrateError: there is no such key.
    """
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
