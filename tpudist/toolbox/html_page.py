"""A report as one HTML page that needs nothing beside it: no script, no file, no font.

The tags html, head and body are left out where HTML lets them be:
https://html.spec.whatwg.org/multipage/syntax.html#optional-tags
"""

from __future__ import annotations

import html
from typing import Iterable

_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; }}
h2 {{ font-size: 1rem; margin: 2.5rem 0 .3rem; }}
table {{ border-collapse: collapse; font-size: 13px; }}
th, td {{ text-align: left; padding: .25rem .7rem; border-bottom: 1px solid #e5e5e5; }}
pre {{ background: #f7f7f7; padding: .7rem 1rem; overflow-x: auto; font-size: 12.5px; }}
svg {{ width: 100%; height: auto; }}
p.small, li {{ color: #666; font-size: 13px; }}
{style}</style>
<h1>{heading}</h1>
{body}
</html>
"""


def safe(value: object) -> str:
    """A value as text that HTML shows as it is."""
    return html.escape(str(value))


def table(headings: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table whose cells are escaped here."""
    head = "".join("<th>%s</th>" % safe(cell) for cell in headings)
    lines = ["".join("<td>%s</td>" % safe(cell) for cell in row) for row in rows]
    body = "\n".join("<tr>%s</tr>" % line for line in [head, *lines])
    return "<table>\n%s\n</table>" % body


def whole(title: str, parts: Iterable[str], style: str = "", heading: str | None = None) -> str:
    """The page's text.

    Args:
      title: as it is read; it is escaped here.
      parts: what follows the heading, HTML; empty ones are left out.
      style: further CSS, what this page alone needs.
      heading: as it is read; the title if None.
    """
    return _PAGE.format(
        title=safe(title),
        heading=safe(title if heading is None else heading),
        style=style,
        body="\n".join(filter(None, parts)),
    )
