"""The rules; each implements one release note.

A rule is a function of a `tpudist.tools.migrate.use.Use`, under `rule`; its docstring says what it
does, first in one sentence. Rules that only give names another spelling, or tell that they have
none, are rows of `tpudist.tools.migrate.rules.rows`.
"""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Callable, Iterable, NamedTuple

from tpudist.tools.migrate.use import Use

if TYPE_CHECKING:
    #: What a rule does with a use.
    Function = Callable[[Use], None]


#: In the order of ``--list-rules``; of two rules for a name the first has it.
_MODULES = (
    "estimators",
    "strategies",
    "rows",
    "datasets",
    "tpu_system",
    "contrib_homes",
    "keras",
    "gone_names",
    "generations",
)

#: The rule that is not asked about names: imports follow from what is rewritten.
IMPORTS = "imports"


class Rule(NamedTuple):
    """One rule."""

    name: str  # what marks and settings call it
    step: str  # the step that needs it: "2.0", "2.2" or "latest"
    note: str  # the release note or reference page that it implements
    uses: frozenset[tuple[str, str]]  # the (kind, name) pairs that it is asked about
    apply: Function  # what it does with a use
    text: str  # what it does, at length; the first line is a sentence of its own

    @property
    def summary(self) -> str:
        """A sentence on what the rule does."""
        return self.text.split("\n")[0]


_RULES: list[Rule] = []


def rule(
    name: str, step: str, note: str, uses: Iterable[tuple[str, str]]
) -> Callable[[Function], Function]:
    """Makes a function a rule, whose text is its docstring."""

    def decorate(apply: Function) -> Function:
        add(Rule(name, step, note, frozenset(uses), apply, inspect.getdoc(apply) or ""))
        return apply

    return decorate


def add(made: Rule) -> None:
    """Adds a rule to those of `load`."""
    _RULES.append(made)


def load() -> list[Rule]:
    """All rules, in the order of `_MODULES`, whichever of these was imported first."""
    names = ["%s.%s" % (__name__, name) for name in _MODULES]
    for name in names:
        importlib.import_module(name)
    return sorted(_RULES, key=lambda each: names.index(each.apply.__module__))
