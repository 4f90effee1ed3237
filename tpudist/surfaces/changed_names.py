"""Names that TensorFlow 1 and TensorFlow 2 both have, with other parameters or another meaning.

`changed` says what a name takes in either, and `generation` which of the two a call is written
for, as far as its arguments show. The facts are in the table CHANGED_NAMES;
`compat/make/changed_names.py` reads them from TensorFlow 1.15 and the newest release and writes it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from tpudist.surfaces.tables import table

if TYPE_CHECKING:
    from typing import Collection, Iterable, Sequence

#: Which TensorFlow a call is written for: TensorFlow 1, TensorFlow 2, either (and it does not do
#: the same in both), or either with the same result.
FIRST, SECOND, BOTH, SAME = "first", "second", "both", ""


class Changed(NamedTuple):
    """A name that is not the same in TensorFlow 1 and 2.

    Attributes:
      first: its parameters in TensorFlow 1, in order. ``*x`` takes any number of positional
        arguments, ``**x`` any keyword; those behind ``*`` or ``*x`` are passed by keyword.
      second: its parameters in TensorFlow 2.
      kept_in_v1: whether ``tf.compat.v1`` of the newest release takes all that 1.15 takes.
      renamed: {parameter of TensorFlow 1: what TensorFlow 2 calls it}, where both mean the same.
      required: the parameters without a default, of TensorFlow 1 and of TensorFlow 2.
      if_given: parameters that make the call another one in TensorFlow 2 when they are passed.
      if_left_out: parameters that do so when they are not passed: their defaults changed.
      always: whether the name does something else whatever is passed.
      fact: what is different, where the parameters do not say it; else "".
      last: the last TensorFlow 2 that has the name, "" if the newest has it.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    kept_in_v1: bool
    renamed: dict[str, str]
    required: tuple[frozenset[str], frozenset[str]]
    if_given: frozenset[str]
    if_left_out: frozenset[str]
    always: bool
    fact: str
    last: str


def changed(dotted: str) -> Changed | None:
    """Returns how a name ("nn.dropout", "data.Dataset.batch") differs; None if it does not."""
    return changed_names().get(dotted)


def generation(dotted: str, positional: int, keywords: Iterable[str], complete: bool = True) -> str:
    """Decides by a call's arguments for which TensorFlow it is written.

    It has so many positional arguments (of a method, without the object), and these keywords; they
    are `complete` unless it has ``*x`` or ``**x``. `FIRST` or `SECOND` alone takes the call; `BOTH`
    if the arguments do not show it and the call does something else in TensorFlow 2, or if neither
    takes it; `SAME` if it means the same in both, or if the name did not change.
    """
    name = changed(dotted)
    if name is None:
        return SAME
    keywords = frozenset(keywords)
    takes_first, takes_second = (
        _takes(parameters, required if complete else (), positional, keywords)
        for parameters, required in zip((name.first, name.second), name.required)
    )
    if takes_first != takes_second:
        return FIRST if takes_first else SECOND
    if not takes_first or not complete or name.always or _differs(name, positional, keywords):
        return BOTH
    return SAME


def defaults_left_out(
    dotted: str, positional: int, keywords: Iterable[str], rows_of: str = "CHANGED_DEFAULTS"
) -> dict[str, str]:
    """{parameter: its old default} of those that a call, as of `generation`, leaves out.

    The table has what TensorFlow 2 changed, or is KERAS_3_DEFAULTS.
    """
    keywords = frozenset(keywords)
    rows = table(rows_of).get(dotted, {})
    places_ = {name: row.partition(" ") for name, row in rows.items()}
    return {
        name: default
        for name, (place, _, default) in places_.items()
        if name not in keywords and positional <= int(place)
    }


def _takes(
    parameters: tuple[str, ...], required: Iterable[str], positional: int, keywords: frozenset[str]
) -> bool:
    by_place = places(parameters)
    passed = keywords | frozenset(by_place[:positional])
    any_keyword = bool(parameters) and parameters[-1].startswith("**")
    if positional > len(by_place) and not takes_any_number(parameters):
        return False
    if keywords & frozenset(by_place[:positional]):
        return False
    return (any_keyword or keywords <= frozenset(parameters)) and passed >= frozenset(required)


def places(parameters: Sequence[str]) -> tuple[str, ...]:
    """The parameters, of those that `Changed` has, that positional arguments can have, in order."""
    stars = [place for place, each in enumerate(parameters) if each.startswith("*")]
    return tuple(parameters[: stars[0]] if stars else parameters)


def takes_any_number(parameters: Iterable[str]) -> bool:
    """Whether there is a ``*x`` among parameters, as `Changed` has them."""
    return any(each[:1] == "*" and each[1:].isidentifier() for each in parameters)


def _differs(name: Changed, positional: int, keywords: Collection[str]) -> bool:
    """Whether a call that both take gives a parameter of another meaning, or leaves one out."""
    first = [name.renamed.get(each, each) for each in places(name.first)[:positional]]
    second = places(name.second)[:positional]
    if first != list(second):
        return True
    passed = {*second, *keywords}
    return bool(name.if_given & passed or name.if_left_out - passed)


@functools.lru_cache(maxsize=None)
def changed_names() -> dict[str, Changed]:
    """{dotted name below ``tf``: how it differs}, of every name that does."""
    rows = table("CHANGED_NAMES").items()
    return {name: _row(*map(str.strip, row.split("|"))) for name, row in rows}


def _row(first: str, second: str, marks: str, fact: str = "") -> Changed:
    both = first.split(), second.split()
    marked: dict[str, list[str]] = {}
    for word in marks.split():
        kind, _, rest = word.partition(":")
        marked.setdefault(kind, []).append(rest)
    renamed = (each.partition("=") for each in marked.get("renamed", ()))
    return Changed(
        first=_names(both[0]),
        second=_names(both[1]),
        kept_in_v1="kept" in marked,
        renamed={old: new for old, _, new in renamed},
        required=(_required(both[0]), _required(both[1])),
        if_given=frozenset(marked.get("given", ())),
        if_left_out=frozenset(marked.get("left-out", ())),
        always="always" in marked,
        fact=fact,
        last=marked.get("last", [""])[0],
    )


def _names(parameters: list[str]) -> tuple[str, ...]:
    return tuple(each.partition("=")[0] for each in parameters)


def _required(parameters: list[str]) -> frozenset[str]:
    return frozenset(each for each in parameters if "=" not in each and not each.startswith("*"))
