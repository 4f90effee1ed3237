"""The shape of one line of the table."""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple

from tpudist.surfaces.tables import table


class Row(NamedTuple):
    """One name of one era.

    Args:
      era: "contrib", "v2_0" or "v2_2".
      name: dotted name below ``tf``; members of the strategy class are written
        ``TPUStrategy.<member>``.
      kind: "init", "property", "method", "function" or "class".
      signature: as on the era's page, without ``self``; "" for a property.
      leads_to: ``module:attribute`` of what answers for it: of a member of the
        strategy class its operation of ``tpudist.core.adapter``.
      carried: whether it is another era's name that the releases of this one still
        had, deprecated and on no page: it works, and does not tell the era.
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


_CLASS = "TPUStrategy."


def of_class(
    era: str, url: str, lines: Iterable[tuple[Any, ...]], carried: bool = False
) -> tuple[Row, ...]:
    """Rows of an era's strategy class.

    Args:
      era: the era's name.
      url: the page of every line that names none.
      lines: tuples (member, operation, signature, since, until[, url]); the
        signature of a property is None.
      carried: as of `Row`.

    Returns:
      A tuple of Row.
    """
    return tuple(_member(era, carried, *(line + (url,))[:6]) for line in lines)


def _member(
    era: str,
    carried: bool,
    name: str,
    operation: str,
    signature: str | None,
    since: str,
    until: str,
    url: str,
) -> Row:
    kind = "init" if name == "__init__" else "property" if signature is None else "method"
    target = "tpudist.core.adapter:" + operation
    return Row(era, _CLASS + name, kind, signature or "", target, carried, since, until, url)


def beside_class(era: str, lines: Iterable[tuple[str, ...]]) -> tuple[Row, ...]:
    """Rows of the names around an era's strategy class.

    Args:
      era: the era's name.
      lines: tuples (name, kind, signature, since, until, url).

    Returns:
      A tuple of Row.
    """
    return tuple(
        Row(era, name, kind, signature, _target(era, name), False, *rest)
        for name, kind, signature, *rest in lines
    )


def _target(era: str, name: str) -> str:
    """What the era's drop-in has for a name, or for its longest parent."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        for above in ("", "contrib.distribute."):
            home = table("DROPINS")[era].get(above + ".".join(parts[:end]))
            if home:
                return ".".join([home] + parts[end:])
    return "tensorflow:" + name
