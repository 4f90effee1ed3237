"""The surfaces of the eras, row by row."""

from __future__ import annotations

from typing import Iterator, NamedTuple

from tpudist.surfaces import tables


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


def of(era: str, spelled: str) -> Iterator[Row]:
    """Yields the rows of an era, in the order of the table.

    Args:
      era: its name.
      spelled: how users write it.
    """
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
                url=url.replace("{era}", spelled),
            )


def _home(era: str, name: str) -> str:
    """What the era's drop-in has for a name, or for its longest parent."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        for above in ("", "contrib.distribute."):
            home = tables.table("DROPINS")[era].get(above + ".".join(parts[:end]))
            if home:
                return ".".join([home] + parts[end:])
    return "tensorflow:" + name
