"""THE TABLE: every name of the three eras, and where it leads.

One table, many readers: the facades' tests, the drop-in namespaces, the script
runner, the codemod and the docs. It imports no TensorFlow. To change: a row of
``names.txt``; where a name leads is answered in `leads`, other logic belongs to the readers.
"""

from __future__ import annotations

import functools
from typing import Any, Iterator, NamedTuple

from tpudist.surfaces import tables
from tpudist.surfaces.tables import table

# Tables of ``names.txt``, which says what is in them; each is read when it is first asked for.
ATTRIBUTES: dict[tuple[str, str], str]
CHANGED_DEFAULTS: dict[str, dict[str, str]]
CONTRIB_NAMES: dict[str, frozenset[str]]
DESCRIPTIONS: dict[str, str]
DROPINS: dict[str, dict[str, str]]
ENDED_PACKAGES: dict[str, dict[str, str]]
EXPORTS: dict[str, dict[str, str]]
FIRST_GENERATION: frozenset[str]
GONE: dict[str, str]
GONE_BY_2_2: dict[str, str]
GONE_BY_2_2_BUT_V1: frozenset[str]
GONE_DATA_OPTIONS: dict[str, str]
GONE_MODULES: frozenset[str]
GONE_TODAY: dict[str, str]
HANDING_ON: frozenset[str]
HOMES: dict[str, str]
KEPT_IN_V1: frozenset[str]
KERAS: dict[str, dict[str, str]]
KERAS_3_PLACES: dict[str, str]
KERAS_2_LACKS: frozenset[str]
KERAS_2_MEMBERS: frozenset[str]
KERAS_2_OF_V1: frozenset[str]
KERAS_2_OPTIMIZER: frozenset[str]
KERAS_ALONE: frozenset[str]
KERAS_ARGUMENTS: dict[str, dict[str, str]]
KERAS_LAYERS: dict[str, str]
KERAS_MEMBERS: dict[tuple[str, str], str]
KERAS_OPTIMIZERS: frozenset[str]
KERAS_REFUSES: dict[str, str]
KERAS_RENAMED: dict[str, dict[str, str]]
KERAS_WEIGHTS: dict[str, str]
LAST: dict[str, str]
LEADS: dict[str, str]
LEFT: dict[str, dict[tuple[str, str], str]]
MEMBERS: dict[str, dict[tuple[str, str], str]]
METHODS: dict[tuple[str, str], str]
MOVED: dict[str, str]
NAMES: dict[str, dict[str, str]]
PARAMETERS: dict[str, str]
PRIVATE_MEMBERS: dict[str, dict[str, str]]
PRIVATE_MODULES: dict[str, str]
PYTHONS: frozenset[str]
RENAMED: dict[str, dict[tuple[str, str], str]]
RENAMED_TODAY: dict[str, str]
RESPELLED: dict[str, dict[str, str]]
RESULTS: dict[str, str]
ROWS: tuple[Row, ...]
SECOND_GENERATION: frozenset[str]
SLIM_ENDED: frozenset[str]
WITHOUT_STRATEGIES: frozenset[str]
WRITTEN: dict[str, str]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (annotated above)
    if name not in __annotations__:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    rows = (row for era in ERAS for row in rows_of(era))
    found = globals()[name] = tuple(rows) if name == "ROWS" else table(name)
    return found


#: The eras, oldest first.
ERAS = ("contrib", "v2_0", "v2_2")

_CLASS = "TPUStrategy."


def rows_of(era: str) -> tuple[Row, ...]:
    """The rows of an era of ERAS (else a KeyError), in the order of the table."""
    if era not in ERAS:
        raise KeyError(era)
    return tuple(_of_era(era))


def members(era: str, carried: bool = True) -> dict[str, Row]:
    """{bare name, such as "unwrap": its Row} of the members of an era's strategy class.

    If `carried`, other eras' names that its releases still had are among them (see `Row`).
    """
    return {
        row.name[len(_CLASS) :]: row
        for row in rows_of(era)
        if row.name.startswith(_CLASS) and (carried or not row.carried)
    }


@functools.lru_cache(maxsize=None)
def first_modules() -> frozenset[str]:
    """The modules that have names of TensorFlow 1 alone, ``tf`` itself as "" among them."""
    parts = [name.split(".") for name in table("FIRST_GENERATION")]
    above = (".".join(each[:end]) for each in parts for end in range(len(each)))
    return frozenset(above)


def spelled(era: str) -> str:
    """Returns an era as users write it: "contrib", "2.0" or "2.2"."""
    return era.lstrip("v").replace("_", ".")


def era_named(text: str) -> str | None:
    """The element of ERAS that a user's spelling means ("2.0", "v2.0", "2_2", ...), or None."""
    name = text.strip().lower().replace(".", "_")
    for era in ERAS:
        if name in (era, era.lstrip("v")):
            return era
    return None


@functools.lru_cache(maxsize=None)
def keras_names() -> frozenset[str]:
    """The names below ``tf`` that only a program written with Keras uses."""
    every = {name for names in table("KERAS").values() for name in names}
    return frozenset(every - {"initializers", "losses", "metrics"})


class Row(NamedTuple):
    """One name of one era.

    Args:
      era: "contrib", "v2_0" or "v2_2".
      name: dotted name below ``tf``; members of the strategy class are written
        ``TPUStrategy.<member>``.
      kind: "init", "property", "method", "function" or "class".
      signature: as on the era's page, without ``self``; "" for a property.
      leads_to: ``module:attribute`` of what answers for it: of a member of the
        strategy class its operation of ``tpudist.adapter``.
      carried: whether it is another era's name that the releases of this one still
        had, deprecated and on no page: it works, and is no evidence of the era.
      since: first TensorFlow release that has the name natively, "" if none has
        (a spelling that only the documentation used).
      until: last one, "" while the newest release still has it.
      url: the reference page that the row implements.
    """

    era: str
    name: str
    kind: str
    signature: str
    leads_to: str
    carried: bool
    since: str
    until: str
    url: str


def _of_era(era: str) -> Iterator[Row]:
    """Yields the rows of an era, in the order of the table."""
    for keys, _, text in tables.sections("ROWS"):
        for module, (last,), value in tables.rows(text) if era in keys else ():
            words, releases, url, *signature = value.split(" | ")
            kind, _, operation = words.partition(" ")
            since, _, until = releases.partition("-")
            name = (module + "." + last).lstrip(".")
            yield Row(
                era=era,
                name=name,
                kind=kind,
                signature="".join(signature),
                leads_to="tpudist.adapter:" + operation if operation else _home(era, name),
                carried="carried" in keys,
                since=since,
                until=until,
                url=url.replace("{era}", spelled(era)),
            )


def _home(era: str, name: str) -> str:
    """Returns what the era's drop-in has for a name, or for its longest parent."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        for above in ("", "contrib.distribute."):
            home = table("DROPINS")[era].get(above + ".".join(parts[:end]))
            if home:
                return ".".join([home] + parts[end:])
    return "tpudist.%s.tensorflow:%s" % (era, name)
