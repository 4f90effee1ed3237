"""THE TABLE: every name of the three eras, and where it leads.

One table, many readers: the facades' tests, the drop-in namespaces, the script
runner, the codemod and the docs. It imports no TensorFlow. To change: a row of an era's
module; logic belongs to the readers.
"""

from __future__ import annotations

import functools

from tpudist.surfaces import contrib as _contrib
from tpudist.surfaces import estimator as _estimator
from tpudist.surfaces import v2 as _v2
from tpudist.surfaces.contrib_names import (
    HOMES,
    LEADS,
    MOVED,
    PARAMETERS,
    WRITTEN,
    Lead,
    Successor,
    contrib_modules,
    lead,
    leads_below,
    public_name,
    successor,
)
from tpudist.surfaces.dropins import DROPINS, EXPORTS
from tpudist.surfaces.first_generation import FIRST_GENERATION
from tpudist.surfaces.gone import (
    ENDED_PACKAGES,
    GONE,
    GONE_BY_2_2,
    GONE_BY_2_2_BUT_V1,
    GONE_DATA_OPTIONS,
    GONE_IN_A_DROPIN,
    GONE_TODAY,
    KEPT_IN_V1,
    KERAS_REFUSES,
    LAST,
    RENAMED_TODAY,
)
from tpudist.surfaces.keras_names import (
    KERAS_ARGUMENTS,
    KERAS_LAYERS,
    KERAS_MEMBERS,
    KERAS_OPTIMIZERS,
    KERAS_RENAMED,
    KERAS_SHAPES,
    KERAS_WEIGHTS,
)
from tpudist.surfaces.private_modules import (
    GONE_MODULES,
    gone_module,
    instead_of_module,
    private_names,
)
from tpudist.surfaces.private_modules import MEMBERS as PRIVATE_MEMBERS
from tpudist.surfaces.private_modules import MODULES as PRIVATE_MODULES
from tpudist.surfaces.rows import Row
from tpudist.surfaces.second_generation import SECOND_GENERATION
from tpudist.surfaces.successors import MEMBERS, NAMES

__all__ = [
    "DROPINS",
    "ENDED_PACKAGES",
    "ERAS",
    "EXPORTS",
    "FIRST_GENERATION",
    "GONE",
    "GONE_BY_2_2",
    "GONE_BY_2_2_BUT_V1",
    "GONE_DATA_OPTIONS",
    "GONE_MODULES",
    "GONE_TODAY",
    "HOMES",
    "KEPT_IN_V1",
    "KERAS_ARGUMENTS",
    "KERAS_LAYERS",
    "KERAS_MEMBERS",
    "KERAS_OPTIMIZERS",
    "KERAS_REFUSES",
    "KERAS_RENAMED",
    "KERAS_SHAPES",
    "KERAS_WEIGHTS",
    "LAST",
    "LEADS",
    "Lead",
    "MEMBERS",
    "MOVED",
    "NAMES",
    "PARAMETERS",
    "PRIVATE_MEMBERS",
    "PRIVATE_MODULES",
    "RENAMED_TODAY",
    "SECOND_GENERATION",
    "ROWS",
    "WRITTEN",
    "Row",
    "Successor",
    "contrib_modules",
    "era_named",
    "first_modules",
    "gone_module",
    "gone_prefix",
    "gone_text",
    "gone_today",
    "instead_of_gone",
    "instead_of_module",
    "lead",
    "leads_below",
    "members",
    "private_names",
    "public_name",
    "rows_of",
    "spelled",
    "successor",
]

#: The eras, oldest first.
ERAS = ("contrib", "v2_0", "v2_2")

ROWS = (
    _contrib.ROWS
    + _estimator.rows("contrib")
    + _v2.V2_0
    + _estimator.rows("v2_0")
    + _v2.V2_2
    + _estimator.rows("v2_2")
)

_CLASS = "TPUStrategy."


def rows_of(era: str) -> tuple[Row, ...]:
    """Rows of one era.

    Args:
      era: "contrib", "v2_0" or "v2_2".

    Returns:
      A tuple of Row, in the order of the table.

    Raises:
      KeyError: no such era.
    """
    if era not in ERAS:
        raise KeyError(era)
    return tuple(row for row in ROWS if row.era == era)


def members(era: str, carried: bool = True) -> dict[str, Row]:
    """Members of the era's strategy class.

    Args:
      era: "contrib", "v2_0" or "v2_2".
      carried: whether other eras' names that its releases still had are among
        them (see `Row`).

    Returns:
      A dict from the member's bare name ("unwrap") to its Row.
    """
    return {
        row.name[len(_CLASS) :]: row
        for row in rows_of(era)
        if row.name.startswith(_CLASS) and (carried or not row.carried)
    }


@functools.lru_cache(maxsize=None)
def first_modules() -> frozenset[str]:
    """The modules that have names of TensorFlow 1 alone, ``tf`` itself as "" among them."""
    parts = [name.split(".") for name in FIRST_GENERATION]
    above = (".".join(each[:end]) for each in parts for end in range(len(each)))
    return frozenset(above)


def spelled(era: str) -> str:
    """How users write an era: "contrib", "2.0" or "2.2"."""
    return era.lstrip("v").replace("_", ".")


def era_named(text: str) -> str | None:
    """The era that a user's spelling means.

    Args:
      text: "contrib", "2.0", "v2.0", "2_2", "v2_2", ...

    Returns:
      An element of ERAS, or None.
    """
    name = text.strip().lower().replace(".", "_")
    for era in ERAS:
        if name in (era, era.lstrip("v")):
            return era
    return None


def gone_text(name: str) -> str:
    """What to type instead of a name of contrib, whether or not somebody carries it on.

    Args:
      name: dotted name below ``tf``.
    """
    public = public_name(name)
    found, words = lead(name), GONE[public if public in GONE else gone_prefix(name) or "contrib"]
    if found.kind == "private":
        words += "; %s has it, which is no public API" % found.target
    return words


def gone_prefix(name: str) -> str | None:
    """The line of GONE that covers a dotted name.

    Args:
      name: dotted name below ``tf``, such as "contrib.layers.fully_connected".

    Returns:
      The longest key of GONE that is the name or one of its parents, or None.
    """
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        if ".".join(parts[:end]) in GONE:
            return ".".join(parts[:end])
    return None


def instead_in_a_dropin(era: str, name: str) -> str:
    """What a program that an era's drop-in serves types instead of a name that it has not.

    Args:
      era: an element of `ERAS`.
      name: dotted name below ``tf`` that :func:`gone_prefix` covers.
    """
    prefix = gone_prefix(name)
    text = GONE_IN_A_DROPIN.get(prefix or "") or GONE[prefix or ""]
    in_contrib = name == "contrib" or (name.startswith("contrib.") and lead(name).kind != "gone")
    if era == "contrib" or not in_contrib:
        return text
    return (
        "the era that has it: --era contrib, or from tpudist.contrib import tensorflow as tf; or "
        + text
    )


def gone_today(name: str) -> str | None:
    """What the newest TensorFlow has not, of a dotted name: itself or one of its parents.

    Args:
      name: dotted name below ``tf``, such as "keras.layers.CuDNNLSTM".

    Returns:
      The longest such key of GONE_TODAY, GONE or private_names(), names of contrib apart; None
      if the newest TensorFlow has it, or has it under another name.
    """
    parts = name.split(".")
    for end in range(len(parts) if parts[0] != "contrib" else 0, 0, -1):
        above = ".".join(parts[:end])
        if above in RENAMED_TODAY:
            return None
        if above in GONE_TODAY or above in GONE or above in private_names():
            return above
    return None


def instead_of_gone(name: str) -> str:
    """What to type instead of a name that :func:`gone_today` returned."""
    return GONE_TODAY.get(name) or GONE.get(name) or private_names()[name]
