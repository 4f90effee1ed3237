"""Writes SURFACES.md from the table of names: each era's members and where they lead.

python compat/make/surfaces.py
"""

import pathlib
import re
import sys

from tpudist import surfaces

HERE = pathlib.Path(__file__).resolve().parent.parent
PAGE = HERE / "SURFACES.md"

_RELEASES = {"contrib": "1.11 to 1.15", "v2_0": "2.0 and 2.1", "v2_2": "2.2 and newer"}
_CLASS = "TPUStrategy."
_HEAD = """# Surfaces

Written by `python -m compat.make.surfaces` from the table of names (`tpudist/surfaces`)
and the exceptions of [README.md](README.md); a test fails when it is not fresh.

A name links to the page that it implements. tpudist has all of them on TensorFlow
1.13 to the newest; "native in" are the releases whose own TensorFlow has the name
with that signature. "Leads to" is what answers for it, below `tpudist` unless it
says `tensorflow`. Numbers in the last column are the exceptions at the end."""


def main():
    """Writes ``SURFACES.md``; returns 0."""
    PAGE.write_text(page(), "utf-8")
    return 0


def page():
    """The text of SURFACES.md."""
    found = exceptions((HERE / "README.md").read_text("utf-8"))
    parts = [_HEAD]
    for era in surfaces.ERAS:
        parts += _era(era, found)
    parts.append("\n## Exceptions\n")
    parts += ["%d. %s: %s (%s)" % (i, place, what, why) for i, (place, what, why) in found.items()]
    return "\n".join(parts) + "\n"


def exceptions(readme):
    """{number: (where, what, reason)} of the tables of exceptions in compat/README.md."""
    found = {}
    for section in re.split(r"^## ", readme, flags=re.M):
        title = section.partition("\n")[0]
        if title.startswith("Exceptions "):
            rows = re.findall(r"^\| (?!what|---)(.+?) \| (.+?) \|$", section, re.M)
            for what, why in rows:
                found[len(found) + 1] = (title[len("Exceptions ") :], what, why)
    return found


def _era(era, found):
    rows = surfaces.rows_of(era)
    own = [row for row in rows if row.name.startswith(_CLASS) and not row.carried]
    carried = [row for row in rows if row.carried]
    beside = [row for row in rows if not row.name.startswith(_CLASS)]
    yield "\n## %s: TensorFlow %s\n" % (surfaces.spelled(era), _RELEASES[era])
    yield "`from tpudist.%s import tensorflow as tf`" % era
    yield from _table("The strategy class", own, found)
    if carried:
        yield from _table("What its releases had beyond the page", carried, found)
    yield from _table("Around the class, below `tf`", beside, found)


def _table(title, rows, found):
    yield "\n### %s\n" % title
    yield "| name | signature | leads to | native in | exceptions |"
    yield "|---|---|---|---|---|"
    for row in rows:
        name = row.name[len(_CLASS) :] if row.name.startswith(_CLASS) else row.name
        yield "| [`%s`](%s) | %s | `%s` | %s | %s |" % (
            name,
            row.url,
            "`%s`" % row.signature if row.signature else row.kind,
            row.leads_to.replace("tpudist.", "").replace(":", "."),
            _native(row),
            ", ".join(str(number) for number in found if _concerns(found[number], name)),
        )


def _native(row):
    if not row.since:
        return "none"
    if row.since == row.until:
        return row.since
    return "%s %s" % (row.since, "to " + row.until if row.until else "and newer")


def _concerns(exception, name):
    """Whether an exception names a member, in backquotes and with nothing else in them."""
    return "`%s`" % name.rpartition(".")[2] in exception[1]


if __name__ == "__main__":
    sys.exit(main())
