"""Looks up the eras that a name of the table belongs to."""

from __future__ import annotations

import functools
import re
from typing import Container

from tpudist import surfaces

_STRATEGY = re.compile("strateg|distribution|replicator", re.IGNORECASE)
_COMPAT = re.compile(r"^(google(\.|$))?(compat\.v[12](\.|$))*")
_OWN = {era: set(surfaces.members(era, carried=False)) for era in surfaces.ERAS}
#: Members of TensorFlow 1 that the strategies of every 2.x release have too: no evidence of an era.
_KEPT = {
    row.name.rpartition(".")[2]
    for row in surfaces.ROWS
    if row.era != "contrib" and row.carried and not row.until
}
#: Members that went to ``strategy.extended``, where code of 2.x has them.
_OF_EXTENDED = frozenset(["call_for_each_replica", "non_slot_devices", "update_non_slot"])
_BESIDE = {
    era: {row.name for row in surfaces.rows_of(era) if not row.name.startswith("TPUStrategy.")}
    for era in surfaces.ERAS
}


#: Only these attributes are evidence of an era.
_LAST_WORDS = {row.name.rpartition(".")[2] for row in surfaces.ROWS}


@functools.lru_cache(maxsize=2000)
def eras_of_name(dotted: str) -> tuple[str, ...]:
    """The eras, oldest first, that have a dotted name below ``tf``; none if every era has it."""
    plain = without_compat(dotted)
    if plain.partition(".")[0] == "contrib" or is_first_generation(dotted):
        return ("contrib",)
    return tuple(era for era in surfaces.ERAS if is_below(plain, _BESIDE[era]))


@functools.lru_cache(maxsize=2000)
def is_first_generation(dotted: str) -> bool:
    """Whether a dotted name below ``tf`` is one that only TensorFlow 1 has."""
    return is_below(dotted, surfaces.FIRST_GENERATION)


@functools.lru_cache(maxsize=2000)
def is_second_generation(dotted: str) -> bool:
    """Whether a dotted name below ``tf`` is one that only TensorFlow 2 has."""
    return is_below(dotted, surfaces.SECOND_GENERATION)


def eras_of_member(name: str, receiver: str) -> tuple[str, ...]:
    """The eras, oldest first, whose strategies have an attribute; none if it is no evidence.

    A name that an era's releases had only carried on from another one, and that is gone since, is
    evidence of that other one. `receiver` is the last word of what it is taken from, or "".
    """
    if name not in _LAST_WORDS or name in _KEPT or receiver.endswith("extended"):
        return ()
    if name in _OF_EXTENDED and not is_called_like_a_strategy(receiver):
        return ()
    return _eras_that_named(name, receiver)


def is_of_a_strategy(name: str, receiver: str) -> bool:
    """Whether an attribute is a strategy's own; arguments as of `eras_of_member`."""
    return bool(_eras_that_named(name, receiver))


@functools.lru_cache(maxsize=2000)
def _eras_that_named(name: str, receiver: str) -> tuple[str, ...]:
    """The eras whose strategies, and nothing else, have a member of that name."""
    if receiver == "extended":
        return ()
    eras = tuple(era for era in surfaces.ERAS if name in _OWN[era])
    distinctive = name.count("_") > 1 or "tower" in name
    if not eras and distinctive and "TowerContext." + name in _BESIDE["contrib"]:
        return ("contrib",)
    is_evidence = distinctive or is_called_like_a_strategy(receiver)
    return eras if is_evidence and len(eras) < len(surfaces.ERAS) else ()


def is_called_like_a_strategy(receiver: str) -> bool:
    """Whether the last word of an expression is one that strategies are called."""
    return bool(_STRATEGY.search(receiver))


def without_compat(dotted: str) -> str:
    """`dotted` without a leading ``compat.v1`` or ``compat.v2``, or Google's own ``google``."""
    return _COMPAT.sub("", dotted)


def is_below(dotted: str, names: Container[str]) -> bool:
    """Whether a dotted name, or one above it, is among `names`."""
    parts = dotted.split(".")
    return any(".".join(parts[:end]) in names for end in range(1, len(parts) + 1))
