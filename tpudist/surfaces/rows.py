"""The shape of one line of the table."""

from collections import namedtuple

Row = namedtuple("Row", "era name kind core signature arguments since until url")
Row.__doc__ = """One name of one era.

Fields:
  era: "contrib", "v2_0" or "v2_2".
  name: dotted name below ``tf``; members of the strategy class are written
    ``TPUStrategy.<member>``.
  kind: "init", "property", "method", "function" or "class".
  core: the operation of ``tpudist.core.adapter`` behind it, "" for a pure name.
  signature: as on the era's page, without ``self``; "" for a property.
  arguments: ``legacy -> core`` for every argument that is spelled otherwise.
  since: first TensorFlow release that has the name natively, "" if none has
    (a spelling that only the documentation used).
  until: last one, "" while the newest release still has it.
  url: the reference page that the row implements.
"""


def rows_for(era, url, lines):
    """Rows of one era from its compact lines.

    Args:
      era: the era's name.
      url: the page of every line that names none.
      lines: tuples (name, kind, core, signature, arguments, since, until[, url]).

    Returns:
      A tuple of Row.
    """
    return tuple(Row(era, *(line + (url,))[:8]) for line in lines)
