"""The names of TensorFlow that rules ask for: which are followed, and through what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.surfaces.eras.names import without_compat
from tpudist.tools.migrate import contrib_words, rules

if TYPE_CHECKING:
    from typing import Callable, Iterable

    Asked = Callable[[str], bool]

_RULES_OF_TODAY = ("gone-names", "renamed-names", "gone-by-2-2", "keras-optimizers")
_ASKED, _TODAY = (
    frozenset(
        name
        for rule in rules.load()
        for kind, name in rule.uses
        if kind == "tf" and (rule.name in _RULES_OF_TODAY) == is_today
    )
    for is_today in (False, True)
)


def _above(names: Iterable[str]) -> frozenset[str]:
    return frozenset(
        ".".join(name.split(".")[:end]) for name in names for end in range(name.count(".") + 1)
    )


#: The names above those, "" for TensorFlow itself.
ABOVE = _above(_ASKED)
ABOVE_TODAY = _above(_TODAY)


def is_asked_for(dotted: str) -> bool:
    """Whether a rule asks for a name below ``tf``, or one that may be below it."""
    dotted = without_compat(dotted)
    first = dotted.partition(".")[0]
    return dotted in ABOVE or dotted in _ASKED or first in ("contrib", "compat")


def is_of_today(dotted: str) -> bool:
    """Whether a name is one that today's TensorFlow has not, or above one: followed in a file."""
    dotted = without_compat(dotted)
    return dotted in ABOVE_TODAY or dotted in _TODAY


def last_words() -> frozenset[str]:
    """The last words of the names that are followed from file to file."""
    every = (name.rpartition(".")[2] for name in (*_ASKED, *ABOVE))
    return contrib_words.every().union(every)


def below(module: str, asked: Asked) -> set[str]:
    """The words right below a module's name that a rule asks for, or that are above such a name."""
    every = (_ASKED, _TODAY, ABOVE, ABOVE_TODAY)
    found = {name.rpartition(".")[2] for names in every for name in names
             if name.rpartition(".")[0] == module and asked(name)}  # fmt: skip
    return found
